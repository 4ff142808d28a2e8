"""Damaged and forged files thrown at every loader: only clear errors, no hang, no partial model.

Saved models and checkpoints get flipped bytes, cuts, insertions, missing, swapped and empty files,
and their JSON is edited and sealed again with a right checksum, as a forger would. Files of rows
(svmlight, ``.npy``, Parquet) get flipped bytes, cuts and insertions. A loader may refuse with the
library's own error (files of rows: ``ValueError`` or ``OSError`` with a text), or load; what loads
must answer. Anything else counts as a failure.

Usage::

    python benchmarks/fuzz_loaders.py [--inputs 20000] [--seed 0]
"""

import copy
import gzip
import random
import shutil
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier
from bayesmargin.errors import BayesmarginWarning, CheckpointError, SavedModelError
from bayesmargin.rows import open_rows
from bayesmargin.running import checkpoint as checkpoints
from bayesmargin.running.checkpoint import Checkpoint
from bayesmargin.saving import read_model, write_model
from bayesmargin.saving.files import sealed, unsealed

SECONDS = 20  # after which an input counts as a hang
STRANGE = [None, True, -1, 0, 1 << 70, 1e308, "", "x", "../x", "/etc/passwd", [], {}, [[]],
           {"array": "x"}, {"same": 0}, {"float": "nan"}, {"object": "os.system", "fields": {}},
           {"dict": {}}, {"tuple": []}, {"generator": {}}, {"draws": "coef", "at": [], "shape": []},
           {"scalar": 1, "type": "O"}, {"path": "/"}, {"slice": [None, None, None]}]  # fmt: skip


class HangError(Exception):
    """An input took too long."""


def rows_and_labels() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 3)) + y[:, None], y


def small_models() -> dict[str, Any]:
    """A quickly fitted model of every kind."""
    X, y = rows_and_labels()
    counts = np.random.default_rng(1).poisson(1.0, (40, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        return {
            "linear": BayesianLinearSVC(n_chains=2, n_draws=8, random_state=0).fit(X, y),
            "MedLDA": MedLDAClassifier(n_topics=2, n_draws=2, random_state=0).fit(counts, y),
            "infinite SVM": InfiniteSVC(n_sweeps=4, n_draws=2, random_state=0).fit(X, y),
            "dpMNL": DPMNLClassifier(n_sweeps=4, n_draws=2, random_state=0).fit(X, y),
        }


def damage(raw: bytes, rng: random.Random) -> bytes:
    """Some bytes flipped, cut, inserted or repeated."""
    data = bytearray(raw)
    kind = rng.randrange(5)
    place = rng.randrange(len(data) + 1)
    if kind == 0 or not data:
        return bytes(data[:place])
    if kind == 1:
        data[place:place] = rng.randbytes(rng.randrange(1, 40))
    elif kind == 2:
        del data[place : place + rng.randrange(1, 40)]
    elif kind == 3:
        other = rng.randrange(len(data))
        data[place:place] = data[other : other + rng.randrange(1, 60)]
    else:
        for _ in range(rng.choice((1, 1, 1, 3, 20))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def edited(document: Any, rng: random.Random) -> Any:
    """A JSON document with one value replaced, removed, moved or doubled."""
    document = copy.deepcopy(document)
    spots: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict | list):
            for key in list(value) if isinstance(value, dict) else range(len(value)):
                spots.append((value, key))
                walk(value[key])

    walk(document)
    parent, key = rng.choice(spots)
    kind = rng.randrange(5)
    if kind == 0:
        del parent[key]
    elif kind == 1:
        other, place = rng.choice(spots)
        parent[key] = copy.deepcopy(other[place])
    elif kind == 2 and isinstance(parent[key], int | float) and parent[key] is not True:
        parent[key] = parent[key] * rng.choice((-1, 2, 1e9)) + rng.choice((0, 1))
    elif kind == 3 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[key] = copy.deepcopy(rng.choice(STRANGE))
    return document


def spoil(folder: Path, rng: random.Random) -> None:
    """Damage or forge one file of a folder."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    documents = [path for path in files if path.name in ("manifest.json", "newest.json")]
    path = rng.choice(files)
    kind = rng.randrange(10)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        path.write_bytes(rng.choice(files).read_bytes() if rng.random() < 0.5 else b"")
    elif kind <= 4 and documents:
        try:
            document = unsealed(documents[0].read_bytes())
        except ValueError:
            return
        for _ in range(rng.choice((1, 1, 2, 4))):
            if isinstance(document, dict) and document:
                document = edited(document, rng)
        try:
            documents[0].write_bytes(sealed(document))
        except ValueError:  # an edit that JSON cannot spell
            documents[0].write_bytes(b"{}")
    else:
        path.write_bytes(damage(path.read_bytes(), rng))


class Fuzz:
    """One loader, its sound input, and what came of the damaged ones."""

    def __init__(self, name: str, sound: Path, load: Callable[[Path], Any], own: tuple[Any, ...]):
        self.name, self.sound, self.load, self.own = name, sound, load, own
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []

    def try_one(self, place: Path, seed: int) -> None:
        rng = random.Random(seed)
        target = place / self.sound.name
        if self.sound.is_dir():
            shutil.copytree(self.sound, target)
            for _ in range(rng.choice((1, 1, 1, 2))):
                if any(target.iterdir()):
                    spoil(target, rng)
        else:
            target.write_bytes(damage(self.sound.read_bytes(), rng))
        signal.alarm(SECONDS)
        try:
            self.load(target)
            self.outcomes["loaded"] += 1
        except self.own as error:
            self.outcomes["refused"] += 1
            if not str(error):
                self.failures.append(f"seed {seed}: {type(error).__name__} without a text")
        except Exception as error:
            self.failures.append(f"seed {seed}: {type(error).__name__}: {error}")
        finally:
            signal.alarm(0)
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)


def answer(path: Path) -> None:
    """Load a model and let it answer."""
    model, _ = read_model(path)
    width = model.n_features_in_
    X = np.ones((3, width)) if not isinstance(model, MedLDAClassifier) else np.eye(3, width)
    assert len(model.predict_proba(X)) == len(model.predict(X)) == 3


def read_rows(path: Path) -> None:
    """Open a file of rows and read it to its end."""
    rows = open_rows(path, label="y") if path.suffix == ".parquet" else open_rows(path)
    assert sum(part.shape[0] for _, part in rows.pieces()) == rows.shape[0]


def checkpoint_of(folder: Path) -> Callable[[Path], Any]:
    """Write a sound checkpoint to a folder; returns what opens a copy of it."""
    X, y = rows_and_labels()
    opened: dict[str, Any] = {}
    init = Checkpoint.__init__

    def remember(self: Checkpoint, path: Any, *facts: Any) -> None:
        opened["facts"] = facts
        init(self, path, *facts)

    remove = Checkpoint.remove
    share = checkpoints.LARGEST_SHARE
    Checkpoint.__init__, Checkpoint.remove = remember, lambda self: None  # type: ignore[assignment,method-assign]
    checkpoints.LARGEST_SHARE = 1e9
    try:
        settings = {"checkpoint": folder, "checkpoint__every": 1e-9, "random_state": 0}
        DPMNLClassifier(n_sweeps=6, n_draws=3, **settings).fit(X, y)
    finally:
        Checkpoint.__init__, Checkpoint.remove = init, remove  # type: ignore[method-assign]
        checkpoints.LARGEST_SHARE = share
    return lambda path: Checkpoint(path, *opened["facts"])


def prepare(folder: Path) -> list[Fuzz]:
    """Sound files of every kind, and their loaders."""
    found = []
    for name, model in small_models().items():
        write_model(model, folder / name, {"preparation": {"columns": ["a", "b"]}})
        own = (SavedModelError, FileNotFoundError)
        found.append(Fuzz(f"saved {name}", folder / name, answer, own))
    reader = checkpoint_of(folder / "checkpoint")
    found.append(Fuzz("checkpoint", folder / "checkpoint", reader, (CheckpointError,)))
    X, y = rows_and_labels()
    lines = [f"{2 * b - 1} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(r))
             for r, b in zip(X, y, strict=True)]  # fmt: skip
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    (folder / "rows.svm.gz").write_bytes(gzip.compress((folder / "rows.svm").read_bytes()))
    np.save(folder / "rows.npy", X)
    names = ["rows.svm", "rows.svm.gz", "rows.npy"]
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        print("pyarrow is missing: Parquet is left out")
    else:
        table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "y": y})
        pyarrow.parquet.write_table(table, folder / "rows.parquet")
        names.append("rows.parquet")
    found += [Fuzz(name, folder / name, read_rows, (ValueError, OSError)) for name in names]
    return found


def run(n_inputs: int, seed: int) -> list[Fuzz]:
    """Throw so many inputs at the loaders, in turn."""

    def late(number: int, frame: Any) -> None:
        raise HangError(f"no answer after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    try:
        with tempfile.TemporaryDirectory() as sound, tempfile.TemporaryDirectory() as place:
            fuzzes = prepare(Path(sound))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number in range(n_inputs):
                    fuzz = fuzzes[number % len(fuzzes)]
                    fuzz.try_one(Path(place), seed * n_inputs + number)
    finally:
        signal.signal(signal.SIGALRM, before)
    return fuzzes


def main() -> None:
    from options import command_line  # not where a test loads this file
    from reporting import finish

    parser = command_line(__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows: list[list[Any]] = []
    for fuzz in run(options.inputs, options.seed):
        refused, loaded, failed = (
            fuzz.outcomes["refused"],
            fuzz.outcomes["loaded"],
            len(fuzz.failures),
        )
        rows.append([fuzz.name, refused + loaded + failed, refused, loaded, failed])
        for failure in fuzz.failures[:5]:
            print(f"{fuzz.name}: {failure}")
    sums = [sum(row[k] for row in rows) for k in range(1, 5)]
    rows.append(["all", *sums])
    header = ["loader", "inputs", "refused", "loaded and answered", "failures"]
    finish("fuzz_loaders", header, rows, sums[3] == 0 and sums[0] >= 20_000)


if __name__ == "__main__":
    main()
