"""Numeric matrices without column names: svmlight, SciPy ``.npz``, ``.npy``; files of labels."""

import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import Table, clean_labels, count

DAMAGE = (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile, zlib.error)


def read_svmlight(path: Path, n_features: int | None) -> Table:
    """CSR matrix and labels of a svmlight file, which may be compressed."""
    from bayesmargin.rows.svmlight import SvmlightRows

    try:
        rows = SvmlightRows(path, n_features, 256 << 20)
    except ValueError as error:
        raise DataError(str(error)) from error
    matrix = rows[:]
    labels = clean_labels(rows.labels, f"the first field of {path}")
    return Table("matrix", matrix, labels, source=str(path))


def read_npz(path: Path) -> Table:
    """Sparse matrix saved by ``scipy.sparse.save_npz``."""
    from scipy import sparse

    try:
        matrix = sparse.load_npz(path)
    except DAMAGE as error:
        raise DataError(
            f"{path} is not a sparse matrix written by scipy.sparse.save_npz: {error}"
        ) from error
    return Table("matrix", _checked(sparse.csr_array(matrix), path), source=str(path))


def read_npy(path: Path) -> Table:
    """Dense matrix saved by ``numpy.save``."""
    try:
        matrix = np.load(path, allow_pickle=False)
    except DAMAGE as error:
        raise DataError(f"{path} is not a readable .npy file: {error}") from error
    return Table("matrix", _checked(matrix, path), source=str(path))


def _checked(matrix: Any, path: Path) -> Any:
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds an array of shape {matrix.shape} and type {matrix.dtype}: a numeric "
            "matrix with a row for each case is needed"
        )
    return matrix if matrix.dtype.kind == "f" else matrix.astype(float)


def read_labels(path: Path, table: Table) -> Table:
    """Add the labels of a file, ``.npy`` or one a line, to a table."""
    if not path.exists():
        raise DataError(f"there is no file of labels {path}")
    if path.suffix == ".npy":
        try:
            values: Any = np.load(path, allow_pickle=False)
        except DAMAGE as error:
            raise DataError(f"{path} is not a readable .npy file: {error}") from error
        if values.ndim != 1:
            raise DataError(f"{path} has the shape {values.shape}: labels are one column")
    else:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is not UTF-8 text (byte {error.start})") from error
        values = np.array([line.strip() for line in lines])
        blank = np.flatnonzero(values == "")
        if len(blank):
            raise DataError(f"{path} has no label in line {blank[0] + 1}")
        values = whole_numbers(values)
    if len(values) != len(table):
        raise DataError(
            f"{path} has {count(len(values), 'label')}, but {table.source} has "
            f"{count(len(table), 'row')}"
        )
    return replace(table, labels=clean_labels(values, f"the label file {path}"))


def whole_numbers(words: Any) -> Any:
    """Words as whole numbers, when all of them are."""
    try:
        return np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.asarray(words, dtype=np.str_)
