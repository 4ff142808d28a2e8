"""A fit that was stopped anywhere goes on bit by bit; a checkpoint that does not fit is refused."""

import errno
import signal
import threading
import warnings

import numpy as np
import pytest

from bayesmargin import (
    BayesianLinearSVC,
    BayesianQuantileRegressor,
    DPMNLClassifier,
    InfiniteSVC,
    MedLDAClassifier,
)
from bayesmargin.approximation import multiclass
from bayesmargin.errors import (
    BayesmarginWarning,
    CheckpointError,
    CheckpointWarning,
    InterruptedWarning,
)
from bayesmargin.models.medlda import SSGRLD, PassiveAggressive
from bayesmargin.running import checkpoint as checkpoints
from bayesmargin.running import classes_side_by_side, neighbour_lists, supervisor
from bayesmargin.running import run as sampling
from bayesmargin.running.checkpoint import NEWEST, PREVIOUS, Checkpoint
from bayesmargin.running.neighbour_lists import new_lists
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    AusterityMetropolis,
    LangevinMC,
    SubgradientHMC,
    stochastic,
)
from bayesmargin.saving import state_folder
from tests.saving import fitted


class Killed(BaseException):
    """Stands for a crash."""


@pytest.fixture
def always_due(monkeypatch):
    """Checkpoints at every opportunity."""
    monkeypatch.setattr(checkpoints, "LARGEST_SHARE", 1e9)


def kill_after(monkeypatch, n_writes):
    """Crash right after so many checkpoints; returns what counts them."""
    count = [0]
    write = Checkpoint.write

    def counted(self, *args):
        write(self, *args)
        count[0] += 1
        if count[0] == n_writes:
            raise Killed

    monkeypatch.setattr(Checkpoint, "write", counted)
    return count


def crash_and_resume(model, data, path, monkeypatch, kills):
    """Fit with crashes after the given numbers of checkpoints; returns the model at the end."""
    for n_writes in kills:
        with monkeypatch.context() as patch:
            kill_after(patch, n_writes)
            try:
                fitted.fit(model, *data)
            except Killed:
                assert (path / NEWEST).is_file()
            else:
                return model
    return fitted.fit(model, *data)


def draws_of(model, X):
    """Everything that must be the same."""
    found = fitted.answers(model, X)
    if isinstance(model, BayesianLinearSVC | BayesianQuantileRegressor):
        found |= dict(model.posterior_.items())
        found["notes"] = [model.posterior_.attrs["notes"]]
        found["iterations"] = [model.diagnostics_.n_iterations, model.diagnostics_.bias]
    if isinstance(model, MedLDAClassifier):
        found["draws"] = [t for p in model.posterior_ for t in (*p.topics, *p.coef)]
    if isinstance(model, InfiniteSVC | DPMNLClassifier):
        found["draws"] = [array for draw in model._draws for array in draw if array is not None
                          and isinstance(array, np.ndarray)]  # fmt: skip
    return found


FITS = {
    "auto": (BayesianLinearSVC(n_chains=2, n_draws=40), fitted.rows()),
    "one-vs-rest": (
        BayesianLinearSVC(multi_class="ovr", n_chains=2, n_draws=12,
                          sampler=SSGNHT(burn_in=20, thin=1)),
        fitted.rows(3),
    ),
    "laplace": (
        BayesianLinearSVC(prior="laplace", n_chains=1, n_draws=20, sampler="ssgnht"),
        fitted.rows(),
    ),
    "ssgld": (
        BayesianLinearSVC(
            n_chains=2,
            n_draws=20,
            sampler=SSGLD(step=0.01, preconditioner="adagrad", schedule="polynomial", burn_in=20,
                          thin=2, batch_size=20),
        ),
        fitted.rows(),
    ),
    "sghmc": (
        BayesianLinearSVC(n_chains=2, n_draws=20, sampler=SGHMC(burn_in=20, thin=2)),
        fitted.rows(),
    ),
    "hmc": (
        BayesianLinearSVC(n_chains=2, n_draws=20, sampler=SubgradientHMC(mass="diagonal")),
        fitted.rows(),
    ),
    "lmc": (
        BayesianLinearSVC(n_chains=1, n_draws=20, sampler=LangevinMC(burn_in=30, thin=1)),
        fitted.rows(),
    ),
    "gibbs": (
        BayesianLinearSVC(n_chains=2, n_draws=20, prior="laplace",
                          sampler=AugmentationGibbs(burn_in=10, thin=1)),
        fitted.rows(3),
    ),
    "srwm": (
        BayesianLinearSVC(n_chains=1, n_draws=20, sampler=AusterityMetropolis(burn_in=20, thin=1)),
        fitted.rows(),
    ),
    "wide": (
        BayesianLinearSVC(n_chains=2, n_draws=12, sampler=SSGNHT(burn_in=9, thin=1)),
        fitted.wide(),
    ),
    "wide one-vs-rest": (
        BayesianLinearSVC(multi_class="ovr", n_chains=2, n_draws=12,
                          sampler=SSGNHT(burn_in=9, thin=1)),
        fitted.wide(3),
    ),
    "lazy": (
        BayesianLinearSVC(
            n_chains=1, n_draws=12, sampler=SSGLD(batch_size=6, lazy=True, burn_in=9, thin=1)
        ),
        fitted.wide(),
    ),
    "quantiles": (
        BayesianQuantileRegressor([0.2, 0.7], C="auto", n_chains=2, n_draws=12,
                                  sampler=SSGNHT(burn_in=20, thin=1)),
        fitted.rows(),
    ),
    "medlda": (
        MedLDAClassifier(
            n_topics=3, n_draws=4, sampler=SSGRLD(n_passes=2, batch_size=16, weights="ssgnht")
        ),
        fitted.counts(),
    ),
    "medlda gibbs": (
        MedLDAClassifier(n_topics=3, n_draws=4, sampler__n_passes=8, sampler="gibbs", n_chains=1),
        fitted.counts(3),
    ),
    "medlda pa": (
        MedLDAClassifier(
            n_topics=3, sampler=PassiveAggressive(n_passes=2, batch_size=16), multi_class="ovr"
        ),
        fitted.counts(3),
    ),
    "infinite": (InfiniteSVC(n_sweeps=25, n_draws=4, n_chains=2), fitted.rows()),
    "infinite threads": (
        InfiniteSVC(n_sweeps=12, n_draws=4, n_chains=3, n_jobs=2, sampler="hmc",
                    concentration="learn"),
        fitted.rows(3),
    ),
    "dpmnl": (DPMNLClassifier(n_sweeps=12, n_draws=4, sampler__weights__n_leapfrog=5),
              fitted.rows()),
}  # fmt: skip


SLOW = ("laplace", "sghmc", "lmc")  # compile kernels that no other fast test needs


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FITS]
)
def test_crashed_fits_go_on_bit_by_bit(name, tmp_path, monkeypatch, always_due):
    model, data = FITS[name]
    model.set_params(random_state=5, checkpoint=None)
    expected = draws_of(fitted.fit(model, *data), data[0])
    path = tmp_path / "checkpoint"
    model.set_params(checkpoint=path, checkpoint__every=1e-9)
    found = crash_and_resume(model, data, path, monkeypatch, kills=(1, 2, 3))
    assert fitted.same(draws_of(found, data[0]), expected)
    assert not path.exists()


def test_a_crashed_fit_that_notes_rivals_goes_on_bit_by_bit(tmp_path, monkeypatch, always_due):
    monkeypatch.setattr(stochastic, "COSTLY", 1)
    monkeypatch.setattr(stochastic, "CHEAPER_CLASSES", 1000)
    monkeypatch.setattr(multiclass, "FULL_LIMIT", 3 * 5)
    monkeypatch.setattr(neighbour_lists, "SKIN", 20.0)
    made = []
    monkeypatch.setattr(
        classes_side_by_side, "new_lists", lambda *given: made.append(new_lists(*given)) or made[-1]
    )
    sampler = SSGNHT(integrator="badodab")
    model = BayesianLinearSVC(0.3, n_chains=2, n_draws=41, sampler=sampler, random_state=5)
    data = fitted.rows(4, n_rows=600, n_features=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        expected = draws_of(fitted.fit(model, *data), data[0])
        assert made
        path = tmp_path / "checkpoint"
        model.set_params(checkpoint=path, checkpoint__every=1e-9)
        found = crash_and_resume(model, data, path, monkeypatch, kills=(1, 2, 3, 4))
    assert fitted.same(draws_of(found, data[0]), expected)


@pytest.mark.parametrize(
    ("sampler", "data"),
    [(SSGNHT(), fitted.wide()), ("auto", fitted.rows())],
    ids=["wide", "dense"],
)
@pytest.mark.parametrize("missing", ["draws", "agreement"])
def test_crashed_fits_that_were_extended_go_on_bit_by_bit(
    sampler, data, missing, tmp_path, monkeypatch, always_due
):
    asked = [0]
    sample = supervisor.Supervisor.sample

    def begun(self, ensemble):
        asked[0], self.max_extensions = 0, 2
        return sample(self, ensemble)

    def lacking(positions):
        asked[0] += 1
        return missing if asked[0] <= 2 else ""

    monkeypatch.setattr(supervisor.Supervisor, "sample", begun)
    monkeypatch.setattr(supervisor, "lacking", lacking)
    monkeypatch.setattr(sampling, "lacking", lacking)
    model = BayesianLinearSVC(n_chains=2, n_draws=21, sampler=sampler, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        expected = draws_of(fitted.fit(model, *data), data[0])
        assert "iterations apart" in str(expected["notes"])
        path = tmp_path / "checkpoint"
        model.set_params(checkpoint=path, checkpoint__every=1e-9)
        found = crash_and_resume(model, data, path, monkeypatch, kills=(2,) + (1,) * 30)
        assert fitted.same(draws_of(found, data[0]), expected)


@pytest.mark.parametrize(
    "seed", [None, np.random.default_rng(1), np.random.RandomState(1)], ids=["none", "new", "old"]
)
def test_a_checkpoint_keeps_the_seed(seed, tmp_path, monkeypatch, always_due):
    X, y = fitted.rows()
    path = tmp_path / "checkpoint"
    model = DPMNLClassifier(n_sweeps=30, n_draws=3, sampler__weights__n_leapfrog=3,
                            random_state=seed, checkpoint=path, checkpoint__every=1e-9)  # fmt: skip
    with monkeypatch.context() as patch:
        kill_after(patch, 3)
        with pytest.raises(Killed):
            model.fit(X, y)
    kept = {file.name: file.read_bytes() for file in path.iterdir()}
    first = draws_of(model.fit(X, y), X)
    path.mkdir()
    for name, raw in kept.items():
        (path / name).write_bytes(raw)
    assert fitted.same(draws_of(model.fit(X, y), X), first)


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
    assert fitted.same(draws_of(model, X), draws_of(expected, X))


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
    expected = draws_of(model.fit(X, y), X)

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(state_folder, "write_part", full)
    model.set_params(checkpoint=tmp_path / "checkpoint", checkpoint__every=1e-9)
    with pytest.warns(CheckpointWarning, match="No space left") as said:
        model.fit(X, y)
    assert len(said) == 1
    assert fitted.same(draws_of(model, X), expected)


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


@pytest.mark.parametrize("name", ["ssgld", "infinite threads", "dpmnl", "medlda"])
def test_an_interrupt_writes_a_last_checkpoint(name, tmp_path, monkeypatch):
    model, data = FITS[name]
    handler = signal.getsignal(signal.SIGINT)  # none where tests run in the background
    model.set_params(random_state=5, checkpoint=None)
    expected = draws_of(fitted.fit(model, *data), data[0])
    path = tmp_path / "checkpoint"
    model.set_params(checkpoint=path, checkpoint__every=3600.0)
    due, calls = Checkpoint.due, [0]

    def press(self):
        calls[0] += 1
        if calls[0] == (18 if name == "ssgld" else 4):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return due(self)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)
        warnings.simplefilter("ignore", BayesmarginWarning)
        patch.setattr(Checkpoint, "due", press)
        patch.setattr("bayesmargin.running.rounds.ROUND_SECONDS", 1e-9)
        if name == "ssgld":
            assert model.fit(*data).posterior_.n_draws < 20
        else:
            with pytest.raises(KeyboardInterrupt):
                model.fit(*data)
    assert (path / NEWEST).is_file()
    assert signal.getsignal(signal.SIGINT) is handler
    assert fitted.same(draws_of(fitted.fit(model, *data), data[0]), expected)
    assert not path.exists()


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
