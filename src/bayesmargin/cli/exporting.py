"""Public data sets as files: a table, a svmlight file, or a folder of documents for each class."""

from pathlib import Path
from typing import Any

from bayesmargin.cli.failures import usage_error


def export(bunch: Any, path: Path) -> None:
    """Write a data set in the format that its kind and the name of the file ask for."""
    import numpy as np
    from scipy import sparse

    if np.ndim(bunch.target) != 1:
        raise usage_error(
            "the set has several labels a row, which files of this program cannot hold"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(bunch.data, list):
        _class_folders(bunch, path)
    elif path.suffix in (".svm", ".svmlight"):
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(bunch.data, bunch.target, str(path), zero_based=False)
    elif path.suffix in (".csv", ".parquet"):
        if sparse.issparse(bunch.data) and bunch.data.shape[1] > 2000:
            raise usage_error(f"{bunch.data.shape[1]:,} sparse columns go to a .svm file")
        _table(bunch, path)
    else:
        raise usage_error(f"--output {path} ends in none of .csv, .parquet, .svm")


def _table(bunch: Any, path: Path) -> None:
    import pandas
    from scipy import sparse

    data = bunch.data.toarray() if sparse.issparse(bunch.data) else bunch.data
    if sparse.issparse(bunch.data) and (data == data.round()).all():
        data = data.astype(int)
    names = bunch.get("feature_names") or [f"x{j + 1}" for j in range(data.shape[1])]
    frame = pandas.DataFrame(data, columns=list(names))
    frame["target"] = bunch.target
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)


def _class_folders(bunch: Any, path: Path) -> None:
    if path.suffix:
        raise usage_error(f"--output {path}: documents go to a folder, and its name has no ending")
    if path.exists() and any(path.iterdir()):
        raise usage_error(f"--output {path} holds files already")
    for number, (text, label) in enumerate(zip(bunch.data, bunch.target, strict=True), start=1):
        folder = path / str(bunch.target_names[label]).replace("/", "_")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06d}.txt").write_text(text, encoding="utf-8")
