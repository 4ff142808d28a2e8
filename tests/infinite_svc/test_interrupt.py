"""Ctrl-C: a fit stops at the end of the sweep under way, and keeps the draws that there are."""

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin.calibration.floored import Link
from bayesmargin.errors import InterruptedWarning
from bayesmargin.foundation.threads import run_chains
from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.running import rounds
from bayesmargin.running.progress import Silence, watching

X, y = make_moons(200, noise=0.2, random_state=0)


class Impatient(Silence):
    """A display whose reader presses Ctrl-C when so many sweeps are done."""

    shown = True

    def __init__(self, sweeps):
        self.sweeps, self.done, self.pressed = sweeps, 0, False

    def update(self, stage, done, total, detail):
        self.done = done
        if done >= self.sweeps and not self.pressed:
            self.pressed = True
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if self.pressed:
            time.sleep(0.005)  # let the main thread hear of it


@pytest.fixture(autouse=True)
def ctrl_c():
    """The handler of a program in a terminal; there is none where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_burn_in_ends_the_fit_at_once(n_jobs):
    display = Impatient(10)
    model = InfiniteSVC(n_sweeps=4000, n_chains=3, n_jobs=n_jobs, random_state=0)
    with watching(display), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert display.done < 1000
    assert not hasattr(model, "n_components_")


def test_ctrl_c_after_burn_in_keeps_the_draws():
    settings = {
        "n_sweeps": 4000,
        "sampler__burn_in": 20,
        "n_draws": 200,
        "sampler__inner_steps": 10,
    }
    settings["random_state"] = 0
    display = Impatient(200)
    model = InfiniteSVC(**settings)
    with watching(display), pytest.warns(InterruptedWarning, match=r"of 4000 sweeps.*fit again"):
        model.fit(X, y)
    assert 180 <= model.n_components_.shape[1] == display.done - 20 < 2000
    assert model.concentration_.shape == model.n_components_.shape
    assert len(model._draws) == len(model._labels) >= 9
    assert model.score(X, y) > 0.9
    assert model.link_ == Link()  # no row was left out
    whole = InfiniteSVC(**{**settings, "n_sweeps": 300}).fit(X, y)
    kept = min(280, model.n_components_.shape[1])
    np.testing.assert_array_equal(model.n_components_[0, :kept], whole.n_components_[0, :kept])


def test_ctrl_c_finds_all_chains_as_far_as_each_other(monkeypatch):
    monkeypatch.setattr(rounds, "ROUND_SECONDS", 1e-9)
    model = InfiniteSVC(n_sweeps=200, n_chains=3, n_draws=20, random_state=0)
    with watching(Impatient(150)), pytest.warns(InterruptedWarning, match="150 of 200 sweeps"):
        model.fit(X, y)
    assert model.n_components_.shape == (3, 50)
    assert len(model._draws) == len(model._labels) == 3 * 10


def test_an_error_of_one_chain_stops_the_others():
    turns = []

    def run(number, stop):
        if number == 0:
            raise ArithmeticError("diverged")
        while not stop.wait(0.01):
            turns.append(number)
        return number

    with pytest.raises(ArithmeticError, match="diverged"):
        run_chains(run, [(0,), (1,)], workers=2)
    assert len(turns) < 100
