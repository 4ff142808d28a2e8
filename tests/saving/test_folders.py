"""Folders that cannot be taken away: disks mounted there, folders of others, the present one."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import bayesmargin
from bayesmargin import DPMNLClassifier
from bayesmargin.errors import CheckpointWarning
from bayesmargin.saving.state_folder import StateFolder
from tests.saving import fitted

X, Y = np.array([[0.0], [1.0], [4.0]]), [0, 0, 1]
BUSY = OSError(errno.EBUSY, "Device or resource busy")


def busy(*args, **kwargs):
    raise BUSY


def checkpointed(path):
    """A fit that writes checkpoints all the time."""
    return DPMNLClassifier(
        n_sweeps=4, random_state=0, checkpoint=str(path), checkpoint__every=1e-9
    ).fit(X, Y)


def test_a_complete_fit_is_not_lost_with_a_folder_that_must_stay(tmp_path, monkeypatch):
    usual = DPMNLClassifier(n_sweeps=4, random_state=0).fit(X, Y)
    place = tmp_path / "mounted"
    place.mkdir()
    monkeypatch.setattr(Path, "rmdir", busy)
    model = checkpointed(place)
    assert (model.predict_proba(X) == usual.predict_proba(X)).all()
    assert list(place.iterdir()) == []
    assert checkpointed(place) is not None  # it serves the next fit


def test_a_complete_fit_is_not_lost_where_its_checkpoint_cannot_be_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(StateFolder, "remove", busy)
    with pytest.warns(CheckpointWarning, match=r"run could not be removed \(.*busy\): the fit is"):
        model = checkpointed(tmp_path / "run")
    assert model.predict(X).tolist() == Y


def test_models_do_not_take_the_place_of_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for here in (".", tmp_path):
        with pytest.raises(ValueError, match="is the present folder, in which a model needs a"):
            fitted.model("dpmnl").save(here)
    fitted.model("dpmnl").save("model")
    assert os.listdir() == ["model"]
    assert type(bayesmargin.load("model")).__name__ == "DPMNLClassifier"


def test_models_do_not_take_the_place_of_a_mounted_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path)
    with pytest.raises(ValueError, match="is the root of a mounted disk, in which a model needs a"):
        fitted.model("dpmnl").save(tmp_path)
    fitted.model("dpmnl").save(tmp_path / "model")
