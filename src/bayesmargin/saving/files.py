"""Files with checksums, written whole or not at all."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bayesmargin.saving.codec import ARRAY_KINDS, whole

PIECE = 1 << 20


class HashingFile:
    """A file opened for writing that knows the checksum and size of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, 0
        self._hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._hash.update(data)
        self.size += memoryview(data).nbytes
        return self.file.write(data)

    def facts(self) -> dict[str, Any]:
        """Checksum and size, as a manifest lists them."""
        return {"sha256": self._hash.hexdigest(), "size": self.size}


@contextmanager
def hashing(path: Path) -> Iterator[HashingFile]:
    """Write a file, and have it on the disk when done."""
    with open(path, "xb") as file:
        yield HashingFile(file)
        file.flush()
        os.fsync(file.fileno())


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(folder: Path) -> None:
    """Have the names of a folder on the disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # pragma: no cover - Windows opens no folders
        return
    try:
        os.fsync(handle)
    except OSError:  # pragma: no cover - some network disks
        pass
    finally:
        os.close(handle)


def write_array(path: Path, array: np.ndarray) -> dict[str, Any]:
    """Write a ``.npy`` file; returns what a manifest says of it."""
    array = np.asarray(array)  # a matrix mapped from a file is an array like any other
    with hashing(path) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
    return {"dtype": array.dtype.str, "shape": list(array.shape), **file.facts()}


def read_array(path: Path, facts: dict[str, Any]) -> np.ndarray:
    """Read a ``.npy`` file whose checksum is verified, if it is what the manifest says."""
    dtype, shape = np.dtype(facts["dtype"]), tuple(whole(size) for size in facts["shape"])
    if dtype.kind not in ARRAY_KINDS or dtype.hasobject:
        raise ValueError(f"{path.name} has the type {dtype}")
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            header = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            header = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"{path.name} has the unknown version {version}")
        if header[0] != shape or header[2] != dtype:
            raise ValueError(f"{path.name} holds {header[0]} {header[2]}, not {shape} {dtype}")
        count = int(np.prod(shape, dtype=object))
        if path.stat().st_size - file.tell() != count * dtype.itemsize:
            raise ValueError(f"{path.name} is too short or too long for {shape} {dtype}")
        values = np.fromfile(file, dtype=dtype, count=count) if count else np.empty(0, dtype)
    values = values.reshape(shape, order="F" if header[1] else "C")
    return values.astype(dtype.newbyteorder("="), copy=False)


def sealed(document: dict[str, Any], indent: int | None = None) -> bytes:
    """A JSON document with a checksum of itself."""
    text = json.dumps(document, indent=indent, allow_nan=False)
    seal = hashlib.sha256(text.encode()).hexdigest()
    return f'{{"checksum": "{seal}",\n"document": {text}}}\n'.encode()


def unsealed(raw: bytes) -> Any:
    """The document of :func:`sealed`, or ``ValueError`` when it was changed."""
    head, _, text = raw.decode().partition(',\n"document": ')
    if not head.startswith('{"checksum": "') or not text.endswith("}\n"):
        raise ValueError("it does not begin and end as it should")
    text = text[:-2]
    if hashlib.sha256(text.encode()).hexdigest() != head[14:-1]:
        raise ValueError("its checksum is wrong")
    return json.loads(text)


def previous_of(path: Path) -> Path:
    """Where a folder waits while another takes its place."""
    return path.with_name(f".{path.name}.previous")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new folder beside ``path`` that takes its place when all went well.

    At any moment there is a whole folder at ``path`` or, for the time between two renames, at
    :func:`previous_of`.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        with _told_with(path):
            draft.mkdir(parents=True)
            yield draft
            settle(draft)
            old = previous_of(path)
            if path.exists():
                shutil.rmtree(old, ignore_errors=True)
                path.rename(old)
            draft.rename(path)
            settle(path.parent)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _told_with(path: Path) -> Iterator[None]:
    """Errors of the disk with the path; they name a draft, or nothing where the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write a file, which takes the path's name when it is whole.

    Where writing fails, for want of room on the disk, what was there before is still there. A
    device or a pipe, such as ``/dev/null``, is written to as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesmargin.saving.files import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(pathlib.Path(folder, "made", "page.txt")) as draft:
    ...         _ = draft.write_text("all of it")
    ...     pathlib.Path(folder, "made", "page.txt").read_text()
    'all of it'
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        with _told_with(path):
            yield path
        return
    target = path.resolve()  # a link stays one
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial")
    with _told_with(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
