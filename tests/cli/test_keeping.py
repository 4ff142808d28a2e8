"""Models that cannot be written where they should be: told before the fit, or kept elsewhere."""

import errno
import re
import signal
from pathlib import Path

import pytest

from bayesmargin import load, saving
from bayesmargin.cli import fitting
from tests.cli.conftest import QUICK, answer, bayesmargin, failing

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def command(people):
    return ("fit", people.csv, "--target", "income", "--id", "name", "--quiet", *QUICK)


def test_a_place_that_cannot_be_written_is_told_before_the_fit(
    command, people, tmp_path, monkeypatch
):
    monkeypatch.setattr(fitting, "gather", lambda *_: pytest.fail("data were read"))
    inside = people.csv / "folder" / "model"
    assert f"{people.csv} is a file" in failing(2, *command, "-o", inside)

    def full(*args, **kwargs):
        raise FULL

    monkeypatch.setattr("tempfile.mkdtemp", full)
    message = failing(1, *command, "-o", tmp_path / "new" / "model")
    assert message == (
        f"--output {tmp_path / 'new' / 'model'} could not be written: nothing can be made in "
        f"{tmp_path} (No space left on device)"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_does_not_fit_on_its_disk_is_kept_elsewhere(command, tmp_path, monkeypatch):
    write = saving.write_model

    def full(estimator, path, extras=None):
        if Path(path) == tmp_path / "model":
            raise FULL
        write(estimator, path, extras)

    monkeypatch.setattr(saving, "write_model", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    result = bayesmargin(*command, "-o", tmp_path / "model")
    assert result.code == 1
    message = result.err
    assert f"{tmp_path / 'model'} could not be written (No space left on device)" in message
    kept = re.search(r"the model is in (\S+): move it", message)[1]
    assert load(kept).n_draws == 60


def test_a_model_that_fits_nowhere_is_told(command, tmp_path, monkeypatch):
    def full(estimator, path, extras=None):
        raise FULL

    monkeypatch.setattr(saving, "write_model", full)
    message = failing(1, *command, "-o", tmp_path / "model")
    assert "could not be written (No space left on device), nor anywhere else" in message


@pytest.mark.parametrize(("output", "checkpoint"), [("m", "m"), ("m", "m/state"), ("m/model", "m")])
def test_a_checkpoint_and_a_model_do_not_share_a_folder(command, tmp_path, output, checkpoint):
    where = ("-o", tmp_path / output, "--checkpoint", tmp_path / checkpoint)
    assert "need folders of their own" in failing(2, *command, *where)
    assert list(tmp_path.iterdir()) == []


def test_files_beside_a_model_are_told_before_the_fit(command, tmp_path, monkeypatch):
    assert bayesmargin(*command, "-o", tmp_path / "model").code == 0
    (tmp_path / "model" / "report.html").write_text("mine")
    monkeypatch.setattr("bayesmargin.cli.fitting.gather", lambda *_: pytest.fail("read the data"))
    message = failing(2, *command, "-o", tmp_path / "model")
    assert "holds 'report.html' beside a saved model, which would be lost with it" in message


def test_a_fit_stopped_while_rows_are_scored_keeps_its_model(command, tmp_path, monkeypatch):
    """It may have taken hours."""

    def stop(*args):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(fitting, "score", stop)
    words = ("-o", tmp_path / "m", "--checkpoint", tmp_path / "run")
    result = bayesmargin(*command, *words)
    assert result.code == 130
    assert "interrupted: the model is saved without scores of the held-out rows" in result.err
    monkeypatch.undo()
    assert load(tmp_path / "m").n_draws == 60
    assert [item.name for item in tmp_path.iterdir()] == ["m"]
    assert answer("report", tmp_path / "m")["rows"] == 48


def test_a_checkpoint_that_cannot_be_removed_is_told_as_other_warnings_are(
    command, tmp_path, monkeypatch
):
    def busy(self):
        raise OSError("busy")

    monkeypatch.setattr("bayesmargin.saving.state_folder.StateFolder.remove", busy)
    result = bayesmargin(*command, "-o", tmp_path / "m", "--checkpoint", tmp_path / "run")
    assert result.code == 0
    assert "run could not be removed (busy): the fit is complete" in result.err
    assert "CheckpointWarning" not in result.err
    assert load(tmp_path / "m").n_draws == 60


def test_a_model_whose_place_is_taken_during_the_fit_is_kept_elsewhere(
    command, tmp_path, monkeypatch
):
    def meanwhile(*args):
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / "log.txt").write_text("mine")
        return sample(*args)

    sample = fitting._sample
    monkeypatch.setattr(fitting, "_sample", meanwhile)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = bayesmargin(*command, "-o", tmp_path / "m")
    assert result.code == 1
    told = r"m holds other files and no saved model; the model is in (\S+): move it"
    found = re.search(told, result.err)
    assert found is not None, result.err
    assert load(found.group(1)).n_draws == 60
    assert (tmp_path / "m" / "log.txt").read_text() == "mine"
