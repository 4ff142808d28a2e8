"""Small files in the real formats, written where the loaders look for them."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]
_COMPRESS = {".xz": lzma.compress, ".bz2": bz2.compress, ".gz": gzip.compress}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BAYESMARGIN_CACHE", str(folder))
    return folder / "datasets"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("BAYESMARGIN_DATA", str(folder))
    return folder


@pytest.fixture
def write(home: Path) -> Write:
    def write_file(relative: str, text: str) -> Path:
        path = home / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        content = text.encode("utf-8")
        path.write_bytes(_COMPRESS.get(path.suffix, bytes)(content))
        return path

    return write_file
