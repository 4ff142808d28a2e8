"""Files that may be compressed: the ending of the name says how."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
}


def open_bytes(path: Path) -> BinaryIO:
    """The content of a file as a stream of bytes, decompressed."""
    stream: BinaryIO = OPENERS.get(path.suffix.lower(), open)(path, "rb")
    return stream
