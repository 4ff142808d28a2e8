"""Rows of svmlight (LIBSVM) text files, plain or compressed.

Text is slow to read, and a fit reads its rows several times. The file is therefore parsed once,
piece by piece, into a binary file in the temporary folder, which is removed with the object.
"""

import lzma
import os
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.compressed import open_bytes
from bayesmargin.foundation.storage import draws_folder
from bayesmargin.foundation.types import IntArray
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.svmlight_text import Lines, read_lines

LARGEST = float(np.nextafter(2.0**128 - 2.0**103, 0.0))  # finite when rounded to single precision
ENTRY = np.dtype([("column", np.int32), ("value", np.float32)])


class SvmlightRows(FileRows):
    """Sparse rows of a svmlight file.

    Parameters
    ----------
    path : Path
        File with a line ``label index:value ...`` for each row, indices from 1.
    n_features : int or None
        Number of features; None takes the largest index.
    memory : int
        Bytes that pieces in memory may take.
    """

    def __init__(self, path: Path, n_features: int | None, memory: int) -> None:
        self.path, self.memory, self.feature_names = path, memory, None
        handle, name = tempfile.mkstemp(prefix="bayesmargin-", suffix=".rows", dir=draws_folder())
        self.binary = Path(name)
        self._cleanup = weakref.finalize(self, self.binary.unlink, missing_ok=True)
        lengths, labels, largest, line = [], [], -1, 0
        try:
            with os.fdopen(handle, "wb") as out, open_bytes(path) as text:
                for lines in _line_pieces(path, text, max(1 << 16, memory // 16)):
                    part = _parsed(path, lines, line)
                    entries = np.empty(len(part.columns), dtype=ENTRY)
                    entries["column"], entries["value"] = part.columns, part.values
                    entries.tofile(out)
                    largest = max(largest, int(part.columns.max(initial=-1)))
                    lengths.append(np.diff(part.bounds))
                    labels.append(part.labels)
                    line += lines.count(b"\n")
            self._finish(lengths, labels, largest, n_features)
        except BaseException:
            self._cleanup()
            raise

    def _finish(
        self, lengths: list[Any], labels: list[Any], largest: int, n_features: int | None
    ) -> None:
        if not lengths or sum(len(part) for part in lengths) == 0:
            raise ValueError(f"{self.path} holds no rows")
        if n_features is not None and largest >= n_features:
            raise ValueError(
                f"{self.path} has the index {largest + 1}, which is more than "
                f"n_features={n_features}"
            )
        sizes = np.concatenate(lengths)
        self.bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.labels = np.concatenate(labels)
        self.shape = (len(sizes), largest + 1 if n_features is None else n_features)

    def pieces(self, constant: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield ``(first row, CSR matrix)`` from beginning to end."""
        budget = max(1, self.memory // (4 * ENTRY.itemsize))
        row = 0
        with self.binary.open("rb") as file:
            while row < self.shape[0]:
                limit = self.bounds[row] + budget
                stop = int(np.searchsorted(self.bounds, limit, side="right")) - 1
                stop = min(max(stop, row + 1), self.shape[0])
                count = int(self.bounds[stop] - self.bounds[row])
                yield (
                    row,
                    self._matrix(np.fromfile(file, ENTRY, count), self.bounds[row : stop + 1]),
                )
                row = stop

    def take(self, index: IntArray) -> Any:
        """CSR matrix of the rows with these numbers, in the order given."""
        sizes = self.bounds[index + 1] - self.bounds[index]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.empty(int(bounds[-1]), dtype=ENTRY)
        if len(entries):
            there = np.memmap(self.binary, dtype=np.int64, mode="r")  # an entry each
            _copy_rows(there, self.bounds[index], bounds, entries.view(np.int64))
        return self._matrix(entries, bounds)

    def _matrix(self, entries: Any, bounds: IntArray) -> Any:
        parts = (
            np.ascontiguousarray(entries["value"]),
            np.ascontiguousarray(entries["column"]),
            bounds - bounds[0],
        )
        return sparse.csr_array(parts, shape=(len(bounds) - 1, self.shape[1]))


@jit
def _copy_rows(there, begin, bounds, entries):  # type: ignore[no-untyped-def]
    """Copy entries of rows that begin at ``begin`` in the file to their places."""
    for i in range(begin.shape[0]):
        for k in range(bounds[i + 1] - bounds[i]):
            entries[bounds[i] + k] = there[begin[i] + k]


def _line_pieces(path: Path, text: BinaryIO, size: int) -> Iterator[bytes]:
    """Whole lines, about ``size`` bytes at a time."""
    rest, done = b"", 0
    while True:
        try:
            piece = text.read(size)
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(
                f"{path} is truncated or corrupt after {done} bytes of text: {error}"
            ) from error
        if not piece:
            break
        done += len(piece)
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
    if rest:
        yield rest


def _parsed(path: Path, lines: bytes, first: int) -> Lines:
    try:
        return read_lines(lines, first, LARGEST)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
