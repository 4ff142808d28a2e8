"""The store of parsed files: used when nothing changed, never when something did."""

import os

import numpy as np
import pytest

from bayesmargin.datasets.cache import cached


class _Reader:
    def __init__(self, value: int) -> None:
        self.value, self.calls = value, 0

    def __call__(self):
        self.calls += 1
        return {"array": np.full(3, self.value)}


@pytest.fixture
def file(write):
    return write("set/file.svm", "text")


def test_second_reading_comes_from_disk(file, cache):
    reader = _Reader(7)
    for _ in range(2):
        assert cached(file, "a", reader)["array"].tolist() == [7, 7, 7]
    assert reader.calls == 1
    assert [path.suffix for path in cache.iterdir()] == [".npz"]


def test_another_purpose_size_or_time_is_read_again(file):
    cached(file, "a", _Reader(1))
    assert cached(file, "b", _Reader(2))["array"][0] == 2
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert cached(file, "a", _Reader(3))["array"][0] == 3
    status = file.stat()
    file.write_text("longer text")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cached(file, "a", _Reader(4))["array"][0] == 4


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a zip", b"something else"])
def test_a_damaged_entry_is_made_again(file, cache, content):
    cached(file, "a", _Reader(1))
    (entry,) = cache.iterdir()
    entry.write_bytes(content)
    assert cached(file, "a", _Reader(2))["array"][0] == 2
    assert cached(file, "a", _Reader(3))["array"][0] == 2


def test_a_folder_that_cannot_be_written_is_no_error(file, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.touch()
    monkeypatch.setenv("BAYESMARGIN_CACHE", str(blocked))
    assert cached(file, "a", _Reader(5))["array"][0] == 5


def test_an_error_of_the_reader_stores_nothing(file, cache):
    def fail():
        raise ValueError("bad line")

    with pytest.raises(ValueError, match="bad line"):
        cached(file, "a", fail)
    assert not cache.exists()
