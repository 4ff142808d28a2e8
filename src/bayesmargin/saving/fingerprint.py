"""Fingerprints of data and settings, by which a checkpoint knows whose it is."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.rows.files import FileRows
from bayesmargin.saving.codec import Encoder

# Settings that change how a fit runs but not what it gives.
IRRELEVANT = ("checkpoint", "verbose", "n_jobs", "random_state")
FILE_ROWS = 4096  # rows of a file that enter its fingerprint


def data_fingerprint(parts: Sequence[Any]) -> str:
    """Hash of arrays, sparse matrices, opened files, and sequences of these.

    Of a file the shape, the labels and some thousand rows spread over it are read.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        _add(digest, part)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    digest.update(type(value).__name__.encode())
    if sparse.issparse(value):
        for part in (np.array(value.shape), value.indptr, value.indices, value.data):
            _add(digest, part)
    elif isinstance(value, FileRows):
        rows = np.linspace(0, value.shape[0] - 1, min(FILE_ROWS, value.shape[0])).astype(np.int64)
        for part in (np.array(value.shape), np.asarray(value.labels), value[rows]):
            _add(digest, part)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        if value.dtype == object:
            digest.update(repr(value.tolist()).encode())
        elif value.ndim and value.strides[0] == 0:
            _add(digest, value[:1].copy())  # one number repeated for every row
        else:
            digest.update(np.ascontiguousarray(value).view(np.uint8).data)
    elif isinstance(value, list | tuple):
        for part in value:
            _add(digest, part)
    elif hasattr(value, "__dataclass_fields__"):
        _add(digest, [getattr(value, name) for name in value.__dataclass_fields__])
    else:
        digest.update(repr(value).encode())


def settings_fingerprint(estimator: Any) -> dict[str, str]:
    """Every relevant setting as text: JSON, with arrays by their hash."""
    found = {"class": type(estimator).__name__}
    for name, value in estimator.get_params(deep=False).items():
        if name in IRRELEVANT:
            continue
        encoder = Encoder()
        text = json.dumps(encoder.encode(value, name))
        if encoder.arrays:
            text += data_fingerprint(list(encoder.arrays.values()))
        found[name] = text
    seed = estimator.get_params(deep=False).get("random_state")
    whole = seed is None or isinstance(seed, int | np.integer)
    found["random_state"] = repr(seed if seed is None else int(seed)) if whole else "a generator"
    return found
