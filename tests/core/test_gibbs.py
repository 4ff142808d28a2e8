"""Chains of blocks: the law of their draws, threads, checkpoints, Ctrl-C."""

import signal
from types import SimpleNamespace

import numpy as np
import pytest

from bayesmargin.errors import CheckpointError
from bayesmargin.running import checkpoint as checkpoints
from bayesmargin.running import rounds
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.saving import state_folder

CORRELATION = 0.8


class Coordinate:
    """One of two correlated normal variables given the other; notes when it was learning."""

    def __init__(self, j):
        self.name, self.j = "ab"[j], j

    def update(self, state, learning):
        noise = np.sqrt(1.0 - CORRELATION**2) * state["rng"].standard_normal()
        state["x"][self.j] = CORRELATION * state["x"][1 - self.j] + noise
        state["learned"] += learning


class Pair:
    blocks = (Coordinate(0), Coordinate(1))

    def begin(self, rng):
        return {"x": rng.standard_normal(2), "rng": rng, "learned": 0}

    def traces(self, state):
        return {"product": float(np.prod(state["x"]))}

    def draw(self, state):
        return (state["x"].copy(),)

    def moving(self, state):
        return state

    def resume(self, moving):
        return moving


def make_chains(n_chains=3, burn_in=10, n_sweeps=60):
    seeds = np.random.SeedSequence(0).spawn(n_chains)
    keep = range(burn_in, n_sweeps)
    return [Gibbs(Pair(), np.random.default_rng(seed), burn_in, keep) for seed in seeds]


def sampled(checkpoint=None, n_jobs=1, show=lambda sweeps: None, n_sweeps=60):
    chains = make_chains(n_sweeps=n_sweeps)
    cut_short = run_sweeps(chains, n_sweeps, n_jobs, checkpoint or NoCheckpoint(0), show)
    return chains, cut_short


def assert_same(one, other):
    assert [chain.traces for chain in one] == [chain.traces for chain in other]
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine.draws, its.draws)


@pytest.fixture
def short_rounds(monkeypatch):
    monkeypatch.setattr(rounds, "ROUND_SECONDS", 1e-9)


def test_chains_have_the_law_of_their_blocks():
    n_sweeps = 20_000
    chains, _ = sampled(n_sweeps=n_sweeps)
    draws = np.array([chain.draws for chain in chains]).reshape(-1, 2)
    # Squares of an autoregression of coefficient 0.8^2 count as (1 - 0.8^4) / (1 + 0.8^4) draws.
    error = np.sqrt(2.0 / len(draws) * (1.0 + CORRELATION**4) / (1.0 - CORRELATION**4))
    assert np.abs(draws.var(axis=0) - 1.0).max() < 4.0 * error
    assert abs(np.mean(draws.prod(axis=1)) - CORRELATION) < 4.0 * error


def test_blocks_learn_in_burn_in_only_and_are_timed():
    chains, cut_short = sampled()
    assert not cut_short
    assert [chain.state["learned"] for chain in chains] == [20, 20, 20]
    assert set(chains[0].seconds) == {"start", "a", "b"}
    assert chains[0].kept("product", 40).shape == (30,)
    assert len(chains[0].draws) == 50


def test_draws_depend_neither_on_threads_nor_on_rounds(monkeypatch):
    whole, _ = sampled()
    monkeypatch.setattr(rounds, "ROUND_SECONDS", 1e-9)
    assert_same(sampled(n_jobs=2)[0], whole)


class Killed(BaseException):
    """Stands for a crash."""


def test_a_crashed_run_goes_on_bit_by_bit(tmp_path, monkeypatch, short_rounds):
    monkeypatch.setattr(checkpoints, "LARGEST_SHARE", 1e9)
    whole, _ = sampled()

    def crash(sweeps):
        if sweeps == 37:
            raise Killed

    with pytest.raises(Killed):
        sampled(Checkpoint(tmp_path / "c", 1e-9, "", {}, 0), show=crash)
    shown = []
    found, _ = sampled(Checkpoint(tmp_path / "c", 1e-9, "", {}, 0), show=shown.append)
    assert shown == list(range(37, 61))
    assert_same(found, whole)


def test_a_checkpoint_of_another_form_is_refused_in_words(tmp_path, monkeypatch, short_rounds):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "LARGEST_SHARE", 1e9)
        patch.setattr(state_folder, "FORMAT", 1)
        sampled(Checkpoint(tmp_path / "c", 1e-9, "", {}, 0))
    with pytest.raises(CheckpointError, match=r"an earlier bayesmargin .* remove the folder"):
        Checkpoint(tmp_path / "c", 1e-9, "", {}, 0)


@pytest.fixture
def ctrl_c():
    """The handler of a program in a terminal; there is none where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_after(sweeps):
    """Somebody who presses Ctrl-C once so many sweeps are shown."""
    seen = SimpleNamespace(done=0)

    def show(done):
        seen.done = done
        if done == sweeps:
            signal.raise_signal(signal.SIGINT)

    return show, seen


def test_ctrl_c_keeps_the_draws_made_so_far(ctrl_c, short_rounds):
    whole, _ = sampled()
    show, seen = press_after(25)
    found, cut_short = sampled(show=show)
    assert cut_short
    assert seen.done == 25
    for mine, its in zip(found, whole, strict=True):
        np.testing.assert_array_equal(mine.draws, its.draws[:15])


def test_ctrl_c_without_draws_ends_the_fit(ctrl_c, short_rounds):
    show, seen = press_after(5)
    with pytest.raises(KeyboardInterrupt):
        sampled(show=show)
    assert seen.done == 5


def test_ctrl_c_in_the_last_sweep_comes_too_late(ctrl_c, short_rounds):
    chains, cut_short = sampled(show=press_after(60)[0])
    assert not cut_short
    assert len(chains[0].draws) == 50


def test_ctrl_c_with_a_checkpoint_leaves_it(tmp_path, ctrl_c, short_rounds):
    whole, _ = sampled()
    with pytest.raises(KeyboardInterrupt):
        sampled(Checkpoint(tmp_path / "c", 3600.0, "", {}, 0), show=press_after(25)[0])
    found, _ = sampled(Checkpoint(tmp_path / "c", 3600.0, "", {}, 0))
    assert_same(found, whole)
