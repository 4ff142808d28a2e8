"""A checkpoint that does not fit, is damaged or cannot be written is told of; none is large."""

import errno
import threading

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC, DPMNLClassifier
from bayesmargin.errors import CheckpointError, CheckpointWarning
from bayesmargin.running.checkpoint import NEWEST, PREVIOUS, Checkpoint
from bayesmargin.samplers import SSGNHT
from bayesmargin.saving import state_folder
from tests.saving import fitted

from ..crashing import Killed, kill_after


@pytest.fixture
def stopped(tmp_path, monkeypatch, always_due):
    """A model whose fit crashed after three checkpoints, its data, and the checkpoint."""
    path = tmp_path / "checkpoint"
    X, y = fitted.rows()
    model = DPMNLClassifier(n_sweeps=30, n_draws=3, sampler__weights__n_leapfrog=3, random_state=0,
                            checkpoint=path, checkpoint__every=1e-9)  # fmt: skip
    with monkeypatch.context() as patch:
        kill_after(patch, 3)
        with pytest.raises(Killed):
            model.fit(X, y)
    return model, X, y, path


def test_other_data_and_settings_are_refused(stopped):
    model, X, y, _ = stopped
    with pytest.raises(CheckpointError, match="other data"):
        model.fit(X + 1e-9, y)
    with pytest.raises(CheckpointError, match="other data"):
        model.fit(X, 1 - y)
    with pytest.raises(CheckpointError, match=r"sampler__new_components=None \(now 6\)"):
        model.set_params(sampler__new_components=6).fit(X, y)
    with pytest.raises(CheckpointError, match="random_state=0"):
        model.set_params(sampler__new_components=None, random_state=1).fit(X, y)
    model.set_params(random_state=0, checkpoint__every=7.0).fit(X, y)


def test_a_damaged_newest_is_reported_and_the_older_one_used(stopped):
    model, X, y, path = stopped
    expected = DPMNLClassifier(
        n_sweeps=30, n_draws=3, sampler__weights__n_leapfrog=3, random_state=0
    ).fit(X, y)
    raw = bytearray((path / NEWEST).read_bytes())
    raw[len(raw) // 2] ^= 4
    (path / NEWEST).write_bytes(raw)
    with pytest.warns(CheckpointWarning, match="newest"):
        model.fit(X, y)
    assert fitted.same(fitted.draws_of(model, X), fitted.draws_of(expected, X))


def test_a_damaged_part_is_reported_and_the_older_one_used(stopped):
    model, X, y, path = stopped
    newest = max(path.glob("*s.part"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(CheckpointWarning, match="newest"):
        model.fit(X, y)


def test_two_damaged_checkpoints_are_an_error(stopped):
    model, X, y, path = stopped
    for name in (NEWEST, PREVIOUS):
        (path / name).write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="damaged"):
        model.fit(X, y)


def test_a_crash_between_the_two_renames(stopped):
    model, X, y, path = stopped
    (path / NEWEST).replace(path / PREVIOUS)
    model.fit(X, y)
    assert not path.exists()


def test_another_version_is_refused(stopped, monkeypatch):
    model, X, y, _ = stopped
    monkeypatch.setattr("bayesmargin.__version__", "9.9")
    with pytest.raises(CheckpointError, match="only the same version"):
        model.fit(X, y)


def test_a_full_disk_is_a_warning(tmp_path, monkeypatch, always_due):
    X, y = fitted.rows()
    model = DPMNLClassifier(n_sweeps=30, n_draws=3, sampler__weights__n_leapfrog=3, random_state=0)
    expected = fitted.draws_of(model.fit(X, y), X)

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(state_folder, "write_part", full)
    model.set_params(checkpoint=tmp_path / "checkpoint", checkpoint__every=1e-9)
    with pytest.warns(CheckpointWarning, match="No space left") as said:
        model.fit(X, y)
    assert len(said) == 1
    assert fitted.same(fitted.draws_of(model, X), expected)


def test_a_disk_that_fills_up_leaves_the_checkpoint_before(stopped, monkeypatch):
    model, X, y, path = stopped

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(state_folder, "write_part", full)
        patch.setattr(Checkpoint, "remove", lambda self: None)
        with pytest.warns(CheckpointWarning, match="No space left"):
            model.fit(X, y)
    assert (path / NEWEST).is_file()
    model.fit(X, y)
    assert not path.exists()


def test_paths_that_cannot_be_checkpoints(tmp_path):
    X, y = fitted.rows()
    (tmp_path / "thesis.txt").write_text("dear")
    for path in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(CheckpointError, match="choose"):
            DPMNLClassifier(checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="every=0"):
        DPMNLClassifier(checkpoint=tmp_path / "new", checkpoint__every=0).fit(X, y)


def test_a_fit_in_another_thread_can_have_a_checkpoint(tmp_path, always_due):
    X, y = fitted.rows()
    model = DPMNLClassifier(
        n_sweeps=3, n_draws=2, checkpoint=tmp_path / "c", checkpoint__every=1e-9
    )
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    thread.join()
    assert len(model.n_components_) == 2


def test_draws_are_stored_once(tmp_path, monkeypatch, always_due):
    X, y = fitted.rows()
    sampler = SSGNHT(burn_in=0, thin=1)
    model = BayesianLinearSVC(n_chains=2, n_draws=40, random_state=0, sampler=sampler,
                              checkpoint=tmp_path / "c", checkpoint__every=1e-9)  # fmt: skip
    written = []
    write = state_folder.write_part

    def counted(path, arrays):
        facts, places = write(path, arrays)
        if path.stem.endswith("k"):
            written.append(facts["size"])
        return facts, places

    monkeypatch.setattr(state_folder, "write_part", counted)
    monkeypatch.setattr("bayesmargin.running.rounds.ROUND_SECONDS", 1e-9)
    fitted.fit(model, X, y)
    assert len(written) > 3
    assert sum(written) <= 2 * 40 * (4 + 3) * 8


def test_writing_is_rarer_where_it_is_slow(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", 1e-9, "", {}, 0)
    checkpoint.write({"x": np.zeros(1 << 20)})
    assert not checkpoint.due()
