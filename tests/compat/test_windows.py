"""What Windows and macOS do otherwise, played here: files in use, line ends, small alphabets."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesmargin
from bayesmargin.foundation import storage, threads
from bayesmargin.saving import files
from tests.saving import fitted

MAPS, OPEN = Path("/proc/self/maps"), Path("/proc/self/fd")


def in_use():
    """Files that this process has mapped or opened."""
    mapped = {line.split(maxsplit=5)[5] for line in MAPS.read_text().splitlines() if "/" in line}
    opened = set()
    for handle in OPEN.iterdir():
        try:
            opened.add(os.readlink(handle))
        except OSError:
            continue
    return mapped | opened


@pytest.fixture
def strict(monkeypatch):
    """No file in use is renamed, replaced or removed, nor a folder that holds one."""
    if not MAPS.exists():
        pytest.skip("this system does not tell which files are in use")

    def guard(owner, name):
        usual = getattr(owner, name)

        def careful(path, *more, **settings):
            place = os.path.abspath(path)
            held = [one for one in in_use() if one == place or one.startswith(place + os.sep)]
            if held and os.path.exists(place):
                raise PermissionError(13, "The process cannot access the file", str(path))
            return usual(path, *more, **settings)

        monkeypatch.setattr(owner, name, careful)

    for name in ("unlink", "rename", "replace", "rmdir"):
        guard(Path, name)
    guard(shutil, "rmtree")


def test_the_play_is_strict(strict, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345678")
    held = np.memmap(path, mode="r")
    with pytest.raises(PermissionError):
        path.unlink()
    with pytest.raises(PermissionError):
        tmp_path.rename(tmp_path.with_name("other"))
    del held
    path.unlink()


@pytest.mark.parametrize("name", ["linear", "medlda"])
def test_a_loaded_model_is_saved_where_it_came_from(strict, name, tmp_path):
    fitted.model(name).save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    loaded.save(tmp_path / "model")
    assert bayesmargin.load(tmp_path / "model").get_params() == loaded.get_params()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_fit_with_a_checkpoint_leaves_no_file(strict, tmp_path):
    settings = {"checkpoint": bayesmargin.Checkpoint(tmp_path / "state", every=1e-9)}
    fitted.linear(**settings)
    assert not (tmp_path / "state").exists()


def test_draws_on_disk_go_with_the_last_who_reads_them(strict, tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESMARGIN_DRAWS", str(tmp_path))
    monkeypatch.setattr(storage, "MEMORY_LIMIT", 0)
    array = storage.draw_array((2, 3, 4))
    part = array[0]
    del array
    gc.collect()
    assert len(list(tmp_path.iterdir())) == 1
    del part
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_folders_that_cannot_be_opened_are_left_unsynced(monkeypatch, tmp_path):
    asked = []

    def refuse(path, flags):
        asked.append(path)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "fsync", lambda handle: pytest.fail("there is nothing to sync"))
    files.settle(tmp_path)
    assert asked == [tmp_path]


def test_a_small_alphabet_escapes_what_it_lacks(tmp_path):
    text = "\n".join(["size,kind", *(f"{k},{'żółty' if k > 5 else 'red'}" for k in range(12))])
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "bayesmargin", "evaluate", "nothing-ż", "rows.csv"]
    shell = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(words, cwd=tmp_path, env=shell, capture_output=True)
    assert done.returncode == 4
    assert b"\\u017c" in done.stderr
    code = (
        "from bayesmargin.cli.main import app\n"
        "app(['--version'], standalone_mode=False); print('\\u017c')"
    )
    done = subprocess.run([sys.executable, "-c", code], env=shell, capture_output=True)
    assert done.stdout.strip().endswith(b"\\u017c")


def test_cores_are_counted_where_no_process_is_bound_to_any(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert threads.usable_cores() == (os.cpu_count() or 1)
