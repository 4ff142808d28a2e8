"""A fit that was stopped anywhere goes on bit by bit."""

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
from bayesmargin.errors import BayesmarginWarning, InterruptedWarning
from bayesmargin.models.medlda import SSGRLD, PassiveAggressive
from bayesmargin.running import classes_side_by_side, neighbour_lists, supervisor
from bayesmargin.running import run as sampling
from bayesmargin.running.checkpoint import NEWEST, Checkpoint
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
from tests.saving import fitted

from ..crashing import Killed, kill_after


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
    expected = fitted.draws_of(fitted.fit(model, *data), data[0])
    path = tmp_path / "checkpoint"
    model.set_params(checkpoint=path, checkpoint__every=1e-9)
    found = crash_and_resume(model, data, path, monkeypatch, kills=(1, 2, 3))
    assert fitted.same(fitted.draws_of(found, data[0]), expected)
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
        expected = fitted.draws_of(fitted.fit(model, *data), data[0])
        assert made
        path = tmp_path / "checkpoint"
        model.set_params(checkpoint=path, checkpoint__every=1e-9)
        found = crash_and_resume(model, data, path, monkeypatch, kills=(1, 2, 3, 4))
    assert fitted.same(fitted.draws_of(found, data[0]), expected)


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
        expected = fitted.draws_of(fitted.fit(model, *data), data[0])
        assert "iterations apart" in str(expected["notes"])
        path = tmp_path / "checkpoint"
        model.set_params(checkpoint=path, checkpoint__every=1e-9)
        found = crash_and_resume(model, data, path, monkeypatch, kills=(2,) + (1,) * 30)
        assert fitted.same(fitted.draws_of(found, data[0]), expected)


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
    first = fitted.draws_of(model.fit(X, y), X)
    path.mkdir()
    for name, raw in kept.items():
        (path / name).write_bytes(raw)
    assert fitted.same(fitted.draws_of(model.fit(X, y), X), first)


@pytest.mark.parametrize("name", ["ssgld", "infinite threads", "dpmnl", "medlda"])
def test_an_interrupt_writes_a_last_checkpoint(name, tmp_path, monkeypatch):
    model, data = FITS[name]
    handler = signal.getsignal(signal.SIGINT)  # none where tests run in the background
    model.set_params(random_state=5, checkpoint=None)
    expected = fitted.draws_of(fitted.fit(model, *data), data[0])
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
    assert fitted.same(fitted.draws_of(fitted.fit(model, *data), data[0]), expected)
    assert not path.exists()
