"""Telling whether files are still those that a fit has read."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def stamp(path: str | Path) -> str:
    """Names, sizes and times of a file, or of everything in a folder, as one word.

    Examples
    --------
    >>> import tempfile
    >>> from bayesmargin.cli.stamps import stamp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     before = stamp(folder)
    ...     _ = Path(folder, "new").write_text("x")
    ...     stamp(folder) == before
    False
    """
    top, word = Path(path), hashlib.sha256()
    for item in _everything(top):
        facts = item.stat()
        name = item.relative_to(top).as_posix()
        size = 0 if item.is_dir() else facts.st_size
        word.update(f"{name}\0{size}\0{facts.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return word.hexdigest()


def _everything(top: Path) -> Iterator[Path]:
    yield top
    if top.is_dir():
        yield from sorted(top.rglob("*"))


def stamps_of(*paths: str | None) -> dict[str, str]:
    """Stamps of the paths that are given and there."""
    return {path: stamp(path) for path in paths if path is not None and Path(path).exists()}


def changed_since(record: dict[str, Any]) -> str | None:
    """The file of a fit that is gone or has changed since, said in words; None when none has."""
    if not record.get("stamps"):
        return f"the fit, of an earlier version, did not note what {record['data']} was"
    for path, before in record["stamps"].items():
        if not Path(path).exists():
            return f"{path} is no longer there"
        if stamp(path) != before:
            return f"{path} has changed since the fit"
    return None
