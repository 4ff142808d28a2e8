"""Folders that cannot be taken away: disks mounted there, folders of others, the present one."""

import errno
from pathlib import Path

import numpy as np
import pytest

from bayesmargin import DPMNLClassifier
from bayesmargin.errors import CheckpointWarning
from bayesmargin.saving.state_folder import StateFolder

X, Y = np.array([[0.0], [1.0], [4.0]]), [0, 0, 1]
BUSY = OSError(errno.EBUSY, "Device or resource busy")


def busy(*args, **kwargs):
    raise BUSY


def checkpointed(path):
    """A fit that writes checkpoints all the time."""
    return DPMNLClassifier(
        n_sweeps=4, random_state=0, checkpoint=str(path), checkpoint_every=1e-9
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
