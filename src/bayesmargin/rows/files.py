"""Rows in files larger than memory: one interface over ``.npy``, svmlight and Parquet.

A fit reads a file a few times from beginning to end (for the anchor, the states of the rows and
the calibration) and once more to gather the rows near their kinks, which is all that sampling
needs in memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.checks import plain_labels
from bayesmargin.rows.choosing import row_numbers
from bayesmargin.rows.finite import require_finite, require_squares
from bayesmargin.rows.readahead import read_ahead
from bayesmargin.rows.sparse import SparseSource

MEMORY = 256 << 20  # bytes for pieces of a file, unless the user says otherwise
SHOWN = 6  # columns that the representation names
BLOCK = 1 << 18  # numbers in a block of dense rows, which stays in a core's cache


class FileRows(ABC):
    """Rows of a file, opened with :func:`bayesmargin.rows.open_rows` and passed to ``fit`` as X.

    Attributes
    ----------
    path : Path
        The file, or the folder of files.
    shape : tuple of int
        Rows and features.
    labels : array or None
        Labels, where the file holds them.
    feature_names : list of str or None
        Names of the features, where the file holds them.
    memory : int
        Bytes that pieces of the file may take.
    """

    path: Path
    shape: tuple[int, int]
    labels: Any
    feature_names: list[str] | None
    memory: int
    ahead: int = 1
    """Pieces that are read in advance."""
    kept: "KeptRows | None" = None
    """Rows chosen at random, picked up by the next pass over the file."""
    checked: bool = False
    """Whether a pass has seen that no value is too large to compute with."""

    def __repr__(self) -> str:
        names = self.feature_names
        parts = [repr(str(self.path)), f"shape={self.shape}"]
        if names is not None:
            shown = [repr(name) for name in names[:SHOWN]] + ["..."] * (len(names) > SHOWN)
            parts.append(f"columns=[{', '.join(shown)}]")
        parts.append("with labels" if self.labels is not None else "without labels")
        return f"{type(self).__name__}({', '.join(parts)})"

    @abstractmethod
    def pieces(self, constant: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield ``(first row, matrix)`` from beginning to end, dense or CSR.

        Dense matrices end in a column of ones if there is to be a ``constant``.
        """

    @abstractmethod
    def take(self, index: IntArray) -> Any:
        """Matrix of the rows with these numbers, in the order given."""

    def __getitem__(self, chosen: Any) -> Any:
        """Matrix in memory, dense or CSR, of rows chosen by numbers, a mask or a slice.

        So ``cross_val_score`` and ``GridSearchCV`` take rows of files; each part that they fit is
        then held in memory.
        """
        return self.take(row_numbers(chosen, self.shape[0]))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"rows of {self.path} are not read one by one: rows[:1000] is a matrix of the first, "
            "and rows.parts() goes through all of them in matrices"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"rows of {self.path} are not an array: BayesianLinearSVC reads them from the file; "
            "for other models, and if they fit into memory, rows[:] is the matrix of all"
        )

    def parts(self) -> Iterator[Any]:
        """Matrices from beginning to end, the next one read ahead."""
        for _, part in read_ahead(self.pieces, self.ahead):
            yield part

    def keep(self, count: int, rng: np.random.Generator) -> None:
        """Choose rows at random for :meth:`sample`, which the next pass over the file will bring.

        Fetching scattered rows later would take a pass of its own.
        """
        self.kept = KeptRows(_at_random(self.shape[0], count, rng))

    def sample(self, count: int, rng: np.random.Generator) -> tuple[IntArray, Any]:
        """Indices and matrix of some rows chosen at random, out of those kept if they suffice."""
        if self.kept is None or len(self.kept.index) < min(count, self.shape[0]):
            self.keep(count, rng)
        assert self.kept is not None
        index, matrix = self.kept.rows_of(self)
        some = _at_random(len(index), count, rng)
        return index[some], matrix[some]

    def rough_sample(self, count: int, rng: np.random.Generator) -> tuple[IntArray, Any]:
        """Like :meth:`sample`, but rows may come in clusters where that is quicker to read.

        Good enough for a first guess, not for an estimate.
        """
        return self.sample(count, rng)

    def source(self, intercept: bool) -> "FileSource":
        """The rows as passes over all data see them."""
        return FileSource(self, intercept)

    def select(self, names: list[str]) -> "FileRows":
        """The same rows with the features ``names`` only, in that order."""
        raise ValueError(f"{self.path} has no column names to choose from")

    def checked_labels(self, y: Any) -> Any:
        """The labels, given or from the file, one for each row."""
        if y is None:
            y = self.labels
        if y is None:
            raise DataError(f"{self.path} holds no labels: pass y, or name the label column")
        y = np.asarray(plain_labels(y))
        if y.shape != (self.shape[0],):
            raise DataError(
                f"the labels have the shape {y.shape}, but {self.path} has {self.shape[0]} rows"
            )
        return y

    def require_any(self) -> None:
        """Refuse a file without rows or without features."""
        for count, what in zip(self.shape, ("rows", "features"), strict=True):
            if count == 0:
                raise DataError(f"{self.path} holds no {what}: at least one is needed")


class KeptRows:
    """Some rows of a file, in order, picked up while all of them go by."""

    def __init__(self, index: IntArray) -> None:
        self.index = index
        self.matrix: Any = None
        self._parts: list[Any] = []
        self._next = 0

    def pick(self, start: int, part: Any, shape: tuple[int, int]) -> None:
        """Copy from a piece of the file, which begins with row ``start``, the rows wanted."""
        if start == 0:
            self._parts, self._next = [], 0
        if self.matrix is not None or start != self._next:
            return
        self._next = start + part.shape[0]
        low, high = np.searchsorted(self.index, [start, self._next])
        if low < high:
            self._parts.append(part[self.index[low:high] - start][:, : shape[1]])
        if self._next == shape[0]:
            join = sparse.vstack if sparse.issparse(self._parts[0]) else np.concatenate
            self.matrix, self._parts = join(self._parts), []

    def rows_of(self, rows: FileRows) -> tuple[IntArray, Any]:
        """Indices and matrix; read now if no pass has brought them."""
        if self.matrix is None:
            self.matrix = rows.take(self.index)
        return self.index, self.matrix


class FileSource:
    """A :class:`~bayesmargin.rows.RowSource` over a file, with a constant column if wanted."""

    def __init__(self, rows: FileRows, intercept: bool) -> None:
        self.rows = rows
        self.intercept = intercept
        self.n_rows = rows.shape[0]
        self.n_columns = rows.shape[1] + int(intercept)
        self.memory = rows.memory

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ``(range of rows, their values)`` in order, the next piece read ahead."""
        pieces = partial(self.rows.pieces, self.intercept)
        kept = self.rows.kept
        for start, part in read_ahead(pieces, self.rows.ahead):
            if not self.rows.checked:
                self._check(part, range(start, start + part.shape[0]))
            if kept is not None:
                kept.pick(start, part, self.rows.shape)
            size = 8192 if sparse.issparse(part) else max(1, BLOCK // part.shape[1])
            for first in range(0, part.shape[0], size):
                block = part[first : first + size]
                span = slice(start + first, start + first + block.shape[0])
                yield span, self._design(block) if sparse.issparse(block) else block
        self.rows.checked = True

    def _check(self, part: Any, numbers: Any) -> None:
        require_squares(part, self.rows.path, numbers, self.rows.feature_names)

    def take(self, index: IntArray) -> Any:
        """Values of the rows ``index``, in that order."""
        return self._design(self.rows.take(index))

    def sample(self, count: int, rng: np.random.Generator) -> tuple[IntArray, Any]:
        """Indices and values of some rows for a first guess; see :meth:`FileRows.rough_sample`."""
        index, part = self.rows.rough_sample(count, rng)
        self._check(part, index)
        return index, self._design(part)

    def _design(self, part: Any) -> Any:
        if sparse.issparse(part):
            return SparseSource(part, self.intercept).take(np.arange(part.shape[0]))
        return with_constant(part) if self.intercept else part


class NpyRows(FileRows):
    """A matrix in a ``.npy`` file, mapped into memory."""

    def __init__(self, path: Path, memory: int) -> None:
        self.path, self.values = path, mapped_array(path)
        if self.values.ndim != 2 or self.values.dtype.kind not in "fiu":
            raise ValueError(
                f"{path} holds an array of shape {self.values.shape} and type "
                f"{self.values.dtype}: a numeric matrix is needed"
            )
        self.shape = self.values.shape
        self.memory, self.feature_names = memory, None
        self.labels = None

    def pieces(self, constant: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield ``(first row, matrix)`` from beginning to end."""
        # Whole numbers of a byte become numbers of eight.
        size = max(1, self.memory // (4 * _floating(self.values.dtype).itemsize * self.shape[1]))
        for start in range(0, self.shape[0], size):
            part = self.values[start : start + size]
            require_finite(part, self.path, range(start, start + len(part)))
            yield start, with_constant(part) if constant else floating(np.array(part))

    def take(self, index: IntArray) -> Any:
        """Matrix of the rows with these numbers, in the order given."""
        values = floating(np.asarray(self.values[index]))
        require_finite(values, self.path, index)
        return values


def _at_random(n_rows: int, count: int, rng: np.random.Generator) -> IntArray:
    """Some rows, each as likely as any other, in order."""
    return np.sort(rng.choice(n_rows, min(count, n_rows), replace=False, shuffle=False))


def mapped_array(path: Path) -> Any:
    """The array of a ``.npy`` file, mapped into memory."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a damaged header fails in many ways, down to the tokenizer's
        raise ValueError(f"{path} is not a readable .npy file: {error}") from error


def floating(values: Any) -> Any:
    """Values in single or double precision."""
    return values.astype(_floating(values.dtype), copy=False)


def _floating(dtype: Any) -> Any:
    """The type in which values of a type are used."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(float)


def with_constant(values: Any) -> Any:
    """Values in single or double precision, with a column of ones after them."""
    shape = (values.shape[0], values.shape[1] + 1)
    result = np.ones(shape, dtype=_floating(values.dtype))
    result[:, :-1] = values
    return result
