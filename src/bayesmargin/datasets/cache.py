"""Parsed files kept as arrays, because reading compressed text takes seconds each time."""

import contextlib
import functools
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[np.generic]]


@functools.cache
def _reader_hash() -> bytes:
    """Hash of the sources of this folder: what an older reader produced is not used again."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.digest()


def _entry(path: Path, purpose: str) -> Path:
    from bayesmargin.foundation.compiling import cache_folder

    status = path.stat()
    state = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{purpose}"
    key = hashlib.sha256(_reader_hash() + state.encode()).hexdigest()[:20]
    return cache_folder() / "datasets" / f"{path.name}-{key}.npz"


def cached(path: Path, purpose: str, read: Callable[[], Arrays]) -> Arrays:
    """Return ``read()``, the arrays parsed from ``path``, from disk when they were read before.

    An entry is named by the file's path, size and time of change, by ``purpose`` (which tells apart
    several readings of one file) and by the sources of the readers. An entry that cannot be read is
    made again; a folder that cannot be written means no caching, never an error.
    """
    entry = _entry(path, purpose)
    try:
        with open(entry, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        arrays = read()
    with contextlib.suppress(OSError):
        _store(entry, arrays)
    return arrays


def _store(entry: Path, arrays: Arrays) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=entry.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, entry)
    except BaseException:
        os.unlink(temporary)
        raise
