"""Numeric matrices without column names: svmlight, SciPy ``.npz``, ``.npy``."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import Table, clean_labels

DAMAGE = (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile, zlib.error)


def read_svmlight(path: Path, n_features: int | None, measured: bool = False) -> Table:
    """CSR matrix and labels of a svmlight file, which may be compressed."""
    from bayesmargin.rows.svmlight import SvmlightRows

    try:
        rows = SvmlightRows(path, n_features, 256 << 20)
    except ValueError as error:
        raise DataError(str(error)) from error
    matrix = rows[:]
    labels = clean_labels(rows.labels, f"the first field of {path}", measured)
    return Table("matrix", matrix, labels, source=str(path), open_ended=n_features is None)


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
    return Table("matrix", _checked(load_npy(path), path), source=str(path))


def load_npy(path: Path) -> Any:
    """Array of a ``.npy`` file."""
    try:
        return np.load(path, allow_pickle=False)
    except DAMAGE as error:
        raise DataError(f"{path} is not a readable .npy file: {error}") from error


def _checked(matrix: Any, path: Path) -> Any:
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds an array of shape {matrix.shape} and type {matrix.dtype}: a numeric "
            "matrix with a row for each case is needed"
        )
    return matrix if matrix.dtype.kind == "f" else matrix.astype(float)
