"""A fit that is killed goes on from the shell, and the program as a process of its own."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bayesmargin.cli import fitting
from bayesmargin.cli.request import FitRequest, command_file, read_command, write_command
from bayesmargin.saving import read_model
from tests.cli.conftest import QUICK, answer, bayesmargin, failing, make_people


def program(*words, **options):
    """The program as a process."""
    command = [sys.executable, "-m", "bayesmargin", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def test_the_arguments_beside_a_checkpoint_mean_the_same_in_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = FitRequest("a.csv", "m", flags={"C": 2.0}, settings=("prior=laplace",),
                         reading={"target": "y"}, checkpoint="run.ck")  # fmt: skip
    write_command(request)
    meant = request.absolute()
    monkeypatch.chdir("/")
    found = read_command(tmp_path / "run.ck")
    assert found == meant
    assert found.data == str(tmp_path / "a.csv")


def test_resume_after_kill_gives_the_model_of_an_uninterrupted_fit(tmp_path):
    make_people(400).to_csv(tmp_path / "people.csv", index=False)
    options = ["--target", "income", "--id", "name", "--model", "infinite", "--quiet",
               "--set", "n_sweeps=400", "--draws", "5"]  # fmt: skip
    fit = ["fit", tmp_path / "people.csv", *options]
    checkpoint = tmp_path / "run.ck"
    words = [*fit, "-o", tmp_path / "killed", "--checkpoint", checkpoint,
             "--checkpoint-every", "0.05"]  # fmt: skip
    process = subprocess.Popen([sys.executable, "-m", "bayesmargin", *map(str, words)])
    limit = time.monotonic() + 120
    newest = checkpoint / "newest.json"
    while not newest.exists() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "the fit was over before it could be killed"
    assert not (tmp_path / "killed").exists()
    described = answer("info", checkpoint)
    assert described["kind"] == "checkpoint"
    assert described["settings"] == {"draws": 5, "n_sweeps": "400"}
    assert described["go_on_with"] == f"bayesmargin resume {checkpoint}"
    resumed = answer("resume", checkpoint, "--quiet")
    assert resumed["model"] == str(tmp_path / "killed")
    assert not command_file(checkpoint).exists()
    whole = answer(*fit, "-o", tmp_path / "whole")
    assert resumed["validation"] == whole["validation"]
    one, _ = read_model(tmp_path / "killed")
    two, _ = read_model(tmp_path / "whole")
    np.testing.assert_array_equal(one.n_components_, two.n_components_)


class PowerCut(BaseException):
    """Nothing is done after it."""


def test_a_crash_between_fit_and_saved_model_costs_no_more_than_one_before(tmp_path, monkeypatch):
    """The checkpoint was gone, and the model not there yet."""
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    checkpoint, output = tmp_path / "run.ck", tmp_path / "m"
    words = ("fit", tmp_path / "people.csv", "--target", "income", "--id", "name", "--quiet",
             "-o", output, "--checkpoint", checkpoint, "--checkpoint-every", "1e-9")  # fmt: skip

    def cut(*args):
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(fitting, "_finish", cut)
        patched.setattr("sys.stderr", io.StringIO())
        with contextlib.suppress(PowerCut):
            bayesmargin(*words, *QUICK)
    assert not output.exists()
    assert (checkpoint / "newest.json").is_file()
    resumed = answer("resume", checkpoint, "--quiet")
    assert list(tmp_path.glob("run.ck*")) == []
    whole = answer(*words[:-6], "-o", tmp_path / "whole", *QUICK)
    assert resumed["validation"] == whole["validation"]


def cut_short(monkeypatch):
    """Fits leave a state in their checkpoint and stop."""
    from bayesmargin.running import checkpoint

    def stop(self, document):
        self.write(*document())
        self.stopped = True
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint.Checkpoint, "pause", stop)


def test_a_refused_fit_leaves_an_earlier_one_to_resume(tmp_path, monkeypatch):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    checkpoint = tmp_path / "run.ck"
    words = ("fit", tmp_path / "people.csv", "--target", "income", "--id", "name", "--quiet",
             "-o", tmp_path / "m", "--checkpoint", checkpoint, *QUICK)  # fmt: skip
    with monkeypatch.context() as patched:
        cut_short(patched)
        assert bayesmargin(*words).code == 130
    kept = command_file(checkpoint).read_bytes()
    message = failing(4, *words, "--C", "7")
    assert f"bayesmargin resume {checkpoint}" in message
    assert "belongs to another fit: --C None (now 7.0)." in message
    message = failing(4, *words[:5], "job", *words[6:], "--drop", "name")
    assert "another fit: --id name (now job), --drop [] (now ['name'])." in message
    assert command_file(checkpoint).read_bytes() == kept
    make_people(81).to_csv(tmp_path / "more.csv", index=False)
    other = [tmp_path / "more.csv" if word == words[1] else word for word in words]
    assert "belongs to other data" in failing(4, *other)
    assert command_file(checkpoint).read_bytes() == kept
    command_file(checkpoint).unlink()
    assert "belongs to other settings" in failing(4, *words, "--C", "7")
    assert not command_file(checkpoint).exists()
    command_file(checkpoint).write_bytes(kept)
    assert answer("resume", checkpoint, "--quiet")["model"] == str(tmp_path / "m")
    assert not command_file(checkpoint).exists()


def test_a_fit_may_go_on_with_another_output_and_other_threads(tmp_path, monkeypatch):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    words = ("fit", tmp_path / "people.csv", "--target", "income", "--id", "name", "--quiet",
             "--checkpoint", tmp_path / "run.ck", *QUICK)  # fmt: skip
    with monkeypatch.context() as patched:
        cut_short(patched)
        assert bayesmargin(*words, "-o", tmp_path / "one").code == 130
    assert bayesmargin(*words, "-o", tmp_path / "two", "--n-jobs", "1").code == 0
    assert (tmp_path / "two" / "manifest.json").is_file()


def test_a_checkpoint_that_was_moved_is_the_one_that_is_resumed(tmp_path, monkeypatch):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    first, moved = tmp_path / "run.ck", tmp_path / "archive" / "kept.ck"
    words = ("fit", tmp_path / "people.csv", "--target", "income", "--id", "name", "--quiet",
             "-o", tmp_path / "m", "--checkpoint", first, *QUICK)  # fmt: skip
    with monkeypatch.context() as patched:
        cut_short(patched)
        assert bayesmargin(*words).code == 130
    moved.parent.mkdir()
    first.rename(moved)
    command_file(first).rename(command_file(moved))
    resumed = answer("resume", moved, "--quiet")
    assert not any("no state" in told for told in resumed.get("warnings", []))
    assert not any(path.exists() for path in (moved, command_file(moved)))
    assert not any(path.exists() for path in (first, command_file(first)))


def test_resume_without_a_state_says_that_it_begins_anew(tmp_path):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    request = FitRequest(str(tmp_path / "people.csv"), str(tmp_path / "m"),
                         flags={"draws": 60, "chains": 2},
                         reading={"target": "income", "identity": "name"},
                         checkpoint=str(tmp_path / "ck"))  # fmt: skip
    write_command(request)
    told = answer("resume", tmp_path / "ck", "--quiet")["warnings"]
    assert f"{tmp_path / 'ck'} holds no state of the fit, which starts from its beginning" in told


def test_a_file_is_no_checkpoint_and_nothing_is_written_beside_it(tmp_path):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "notes.txt").write_text("mine")
    words = ("fit", tmp_path / "people.csv", "--target", "income", "--id", "name", "--quiet")
    assert "is a file" in failing(2, *words, "--checkpoint", tmp_path / "notes.txt")
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("dear")
    assert str(folder) in failing(4, *words, "--checkpoint", folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "letters", "notes.txt", "people.csv",
    ]  # fmt: skip


def test_resume_without_the_data_says_so(tmp_path):
    request = FitRequest(str(tmp_path / "gone.csv"), str(tmp_path / "m"),
                         reading={"target": "income"}, checkpoint=str(tmp_path / "ck"))  # fmt: skip
    write_command(request)
    result = program("resume", tmp_path / "ck")
    assert result.returncode == 3
    assert result.stderr == (
        f"bayesmargin: error: there is no file or folder {tmp_path / 'gone.csv'}\n"
    )


def test_json_is_the_only_thing_on_stdout_of_a_process(tmp_path):
    make_people(80).to_csv(tmp_path / "people.csv", index=False)
    result = program("fit", "people.csv", "--target", "income", "--id", "name", "--draws", "60",
                     "--chains", "2", "--json", cwd=tmp_path)  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["model"] == "model"
    assert "sampling" in result.stderr
    assert (tmp_path / "model" / "manifest.json").is_file()


def test_help_is_quick_because_nothing_heavy_is_imported():
    code = (
        "import sys; sys.argv = ['bayesmargin', '--help']\n"
        "from bayesmargin.cli.main import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'numba', 'sklearn', 'scipy', 'pyarrow', 'arviz'}\n"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        assert program("--help").returncode == 0
        seconds.append(time.perf_counter() - began)
    if min(seconds) > 1.0:
        pytest.fail(f"--help took {min(seconds):.2f} s")
