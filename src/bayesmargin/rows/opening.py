"""Opening files of rows by their name."""

import numbers
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.foundation.compressed import OPENERS
from bayesmargin.rows.files import MEMORY, FileRows, NpyRows, mapped_array
from bayesmargin.rows.parquet import ParquetRows
from bayesmargin.rows.parquet_files import SUFFIXES
from bayesmargin.rows.svmlight import SvmlightRows

TABLES = (".csv", ".tsv", ".tab")


def open_rows(
    path: Any,
    *,
    label: str | None = None,
    labels: Any = None,
    n_features: int | None = None,
    memory: int = MEMORY,
) -> FileRows:
    r"""Open a file larger than memory; the result goes to ``fit`` and ``predict`` as ``X``.

    Parameters
    ----------
    path : path-like
        A ``.npy`` matrix, a Parquet file or a folder of them, or a svmlight file, which may be
        compressed (``.gz``, ``.bz2``, ``.xz``).
    label : str, optional
        Parquet: name of the column of labels; without it ``fit`` needs ``y``.
    labels : array-like or path, optional
        The labels, or a ``.npy`` file of them, for files that hold none; a ``.npy`` matrix without
        them needs ``y`` in ``fit``.
    n_features : int, optional
        svmlight: number of features, when the last ones may not occur.
    memory : int
        Bytes that pieces of the file may take in memory at any time.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesmargin import BayesianLinearSVC
    >>> from bayesmargin.rows import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.svm")
    ...     _ = path.write_text("+1 1:0.5 3:1.0\n-1 2:2.0\n")
    ...     rows = open_rows(path)
    >>> rows.shape, rows.labels
    ((2, 3), array([ 1., -1.]))
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if n_features is not None and (not isinstance(n_features, numbers.Integral) or n_features < 1):
        raise ValueError(f"n_features={n_features!r} is not allowed: it is a number of columns")
    rows = _opened(path, label, n_features, _checked_memory(memory))
    if labels is not None:
        if label is not None:
            raise ValueError(f"label={label!r} and labels= both say what the labels are: pass one")
        given = mapped_array(Path(labels)) if isinstance(labels, str | Path) else labels
        rows.labels = np.array(rows.checked_labels(given))
    return rows


def _checked_memory(memory: Any) -> int:
    number = isinstance(memory, numbers.Real) and not isinstance(memory, bool)
    if not number or not 1 << 20 <= memory < np.inf:
        raise ValueError(
            f"memory={memory!r} is not allowed: it is a number of bytes, at least 1 MiB (1048576), "
            "such as 1 << 30 for 1 GiB"
        )
    return int(memory)


def _opened(path: Path, label: str | None, n_features: int | None, memory: int) -> FileRows:
    """Rows of a file by the ending of its name."""
    ending = path.suffix.lower()
    if path.is_dir() or ending in SUFFIXES:
        return ParquetRows(path, label, memory)
    if any(suffix.lower() in TABLES for suffix in path.suffixes):
        raise ValueError(
            f"{path}: this kind of file is not known to open_rows, which reads numbers only; pass "
            "pandas.read_csv(...) to fit, use the command line (bayesmargin fit), or write the "
            "table as Parquet"
        )
    if label is not None:
        raise ValueError(f"label={label!r} names a column, and {path} is not a Parquet file")
    if ending == ".npy":
        return NpyRows(path, memory)
    if ending in OPENERS or ending in (".svm", ".svmlight", ".libsvm", ".txt", ".dat"):
        return SvmlightRows(path, n_features, memory)
    raise ValueError(
        f"{path}: the kind of file is not known by its name; files end in .npy, .parquet, .svm, "
        ".svmlight, .libsvm, .txt, .dat, .gz, .bz2 or .xz"
    )
