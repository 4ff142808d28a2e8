"""Chains that read rows together: each moves as it does alone, over the rows that matter."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtr

import bayesmargin.approximation.multiclass as multiclass
import bayesmargin.running.neighbour_lists as neighbour_lists
import bayesmargin.samplers.sharing as sharing
import bayesmargin.samplers.stochastic as stochastic
from bayesmargin.approximation.screening import (
    IDLE,
    STILL,
    in_turns,
    screen,
    without_idle_rows,
)
from bayesmargin.foundation.compiling import from_python
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.running.chains import Chain, collected, run_chains
from bayesmargin.running.classes_side_by_side import ClassesInCompany
from bayesmargin.running.journal import Journal
from bayesmargin.running.side_by_side import TURNS, ChainInCompany, turn
from bayesmargin.samplers import SSGNHT
from bayesmargin.samplers.sharing import SharedInCompany
from bayesmargin.targets.problem import Problem

N_ROWS, N_COLUMNS = 1203, 7


@pytest.fixture(autouse=True)
def every_batch_is_large(monkeypatch):
    monkeypatch.setattr(stochastic, "COSTLY", 1)
    monkeypatch.setattr(stochastic, "CHEAPER", 1000)


def problem(n_classes=2):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((N_ROWS, N_COLUMNS))
    label = (rows[:, 0] + rows[:, 1] + rng.standard_normal(N_ROWS) > 0).astype(np.int64)
    if n_classes > 2:
        scores = rows @ rng.standard_normal((N_COLUMNS, n_classes))
        label = np.argmax(scores + rng.standard_normal(scores.shape), axis=1)
    size = N_COLUMNS * (1 if n_classes == 2 else n_classes)
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    return Problem(DenseSource(rows, False), label, n_classes, np.ones(N_ROWS), 1.0, prior)


def started(n_chains, n_classes=2):
    generators = spawn_generators(3, n_chains + 1)
    return SSGNHT(integrator="badodab").start(problem(n_classes), generators)


KINDS = {
    "two": ChainInCompany,
    "several": ClassesInCompany,
    "blocks": SharedInCompany,
    "lists": SharedInCompany,
}


@pytest.fixture(params=list(KINDS))
def n_classes(request, monkeypatch):
    """Two classes; four with one covariance; four with a block each, so that chains share.

    Last, the same where all rows are looked at now and then.
    """
    if request.param in ("blocks", "lists"):
        monkeypatch.setattr(multiclass, "FULL_LIMIT", 3 * N_COLUMNS)
    if request.param == "lists":
        monkeypatch.setattr(neighbour_lists, "SKIN", 20.0)
    count = 2 if request.param == "two" else 4
    assert type(started(1, count).chains[0]) is KINDS[request.param]
    return count


@pytest.mark.parametrize(("n_chains", "n_jobs"), [(3, 1), (3, 2), (5, 2), (5, 1)])
def test_draws_depend_neither_on_company_nor_on_threads(n_classes, n_chains, n_jobs):
    together, single = started(n_chains, n_classes), started(n_chains, n_classes)
    run_chains(together.chains, 9, 2, n_jobs)
    for chain in single.chains:
        chain.run(9, 2)
    for found, wanted in zip(collected(together.chains), collected(single.chains), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_draws_do_not_depend_on_the_length_of_rounds(n_classes):
    whole, pieces = started(2, n_classes), started(2, n_classes)
    run_chains(whole.chains, 15, 2, 1)
    for length in (1, 6, 3, 5):
        run_chains(pieces.chains, length, 2, 1)
    for found, wanted in zip(collected(pieces.chains), collected(whole.chains), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_chain_in_company_moves_as_one_that_reads_the_same_rows_alone(n_classes):
    company, others = started(4, n_classes).chains, started(4, n_classes).chains
    for chain in company:
        chain.near = None  # none in turns
    plain = [Chain(c.dynamics, c.target, c.state, c.work, c.rng) for c in others]
    run_chains(company, 20, 2, 1)
    run_chains(plain, 20, 2, 1)
    for found, wanted in zip(collected(company), collected(plain), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)  # rows in single precision


def with_lists(monkeypatch):
    """Four chains that look at all rows at every eleventh of their long steps."""
    monkeypatch.setattr(multiclass, "FULL_LIMIT", 3 * N_COLUMNS)
    monkeypatch.setattr(neighbour_lists, "SKIN", 20.0)
    chains = started(4, 4).chains
    assert chains[0].period > 8
    return chains


def test_lists_of_rivals_leave_nothing_out(monkeypatch):
    noting, plain = with_lists(monkeypatch), started(4, 4).chains
    monkeypatch.setattr(sharing, "PERIOD", noting[0].period)  # of draws of what is shared
    for chain in plain:
        chain.period = 1
    run_chains(noting, 50, 2, 1)
    run_chains(plain, 50, 2, 1)
    for found, wanted in zip(collected(noting), collected(plain), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)  # rows in single precision
    for chain in noting:
        noted, changed, unseen = chain.lists.tally
        assert noted > 0
        assert changed > 50
        assert unseen == 0


def test_winners_that_change_unseen_are_counted(monkeypatch):
    """Rows taken for a hundred times as slow as they are."""
    monkeypatch.setattr(stochastic, "FARTHEST_MOVE", 0.05)
    chains = with_lists(monkeypatch)
    run_chains(chains, 50, 2, 1)
    assert min(chain.lists.tally[2] for chain in chains) > 0


def test_a_stretch_goes_on_with_the_lists_it_had_and_keeps_none(monkeypatch):
    def journal(records):
        return Journal(SimpleNamespace(state=records, active=True, pause=lambda told: told()))

    chains, again = with_lists(monkeypatch), with_lists(monkeypatch)
    first = journal(None)
    stretch = first.stretch(chains, 30)
    with stretch.round(8):
        run_chains(chains, 8, 2, 1)
    stretch.pause()
    begun = journal(deepcopy(first.records)).stretch(again, 30)
    assert begun.done == 8
    for chain, other in zip(chains, again, strict=True):
        assert chain.lists.tally[1] > 0  # and rounding errors that a fresh look has not
        for known, told in zip(chain.lists, other.lists, strict=True):
            np.testing.assert_array_equal(known, told)
    stretch.end()
    assert [told["known"] for told in first.records[0]["chains"]] == [None] * len(chains)


def test_turns_together_read_every_row_as_often():
    near, n_rows = 301, 1203
    read = np.zeros(n_rows)
    for clock in range(7, 7 + TURNS):
        begin, end = from_python(turn)(near, n_rows, clock)
        read[begin:end] += (n_rows - near) / (end - begin)
        read[:near] += 1.0
    np.testing.assert_allclose(read, TURNS, rtol=0.01)


def test_rows_read_in_turns_make_next_to_no_noise():
    """What a batch of a quarter of them would make, less than a fiftieth."""
    rng = np.random.default_rng(5)
    distance, reach = rng.uniform(-7.9, 7.9, 5000), rng.uniform(0.05, 0.2, 5000)
    whole = without_idle_rows(screen(distance, reach, rng), distance)
    mixed, near = in_turns(whole, distance, reach, 0.35, 20, TURNS, rng)
    assert sorted(mixed.index) == sorted(whole.index)
    far = mixed.index[near:]
    assert 100 < near < 0.7 * mixed.index.size
    changes = ndtr(-np.abs(distance)) * reach**2
    assert (TURNS - 1) * changes[far].sum() / 20 <= STILL
    assert np.abs(distance[far]).min() >= np.abs(distance[mixed.index[:near]]).max()
    reach[far[::2]] = 2.0  # a few that would kick hard are read at every step
    again, more = in_turns(whole, distance, reach, 0.35, 20, TURNS, rng)
    assert more > near
    assert not set(far[::2]) & set(again.index[more:])


def test_all_rows_are_read_and_chains_say_so():
    info = started(2).info
    assert info["batch_size"] == info["rows_in_reach"]
    assert info["predicted_gradient_noise"] == 0.0


def test_draws_are_as_far_apart_in_time_whatever_the_step():
    long = started(2)
    short = long.remedies.smaller()
    assert short.info["step"] == 0.5 * long.info["step"]
    assert short.plan.thin == 2 * long.plan.thin


def test_chains_too_hot_for_batches_read_every_row(monkeypatch):
    monkeypatch.setattr(stochastic, "COSTLY", 1 << 30)
    hot = started(2)
    assert not isinstance(hot.chains[0], ChainInCompany)
    steady = hot.remedies.steadier()
    assert isinstance(steady.chains[0], ChainInCompany)
    assert steady.remedies.steadier() is None
    assert isinstance(steady.remedies.smaller().chains[0], ChainInCompany)
    monkeypatch.setattr(stochastic, "STEADIER", 0)  # too many rows for that
    assert hot.remedies.steadier() is None


def test_steps_that_were_chosen_keep_their_batches():
    chosen = SSGNHT(integrator="badodab", batch_size=50).start(problem(), spawn_generators(3, 3))
    assert not isinstance(chosen.chains[0], ChainInCompany)


def test_idle_rows_make_next_to_no_changes():
    rng = np.random.default_rng(5)
    distance = rng.uniform(-7.9, 7.9, 5000)
    everything = screen(distance, np.ones(5000), rng)
    kept = without_idle_rows(everything, distance)
    changes = ndtr(-np.abs(distance))
    left_out = changes.sum() - changes[kept.index].sum()
    assert 0.5 * IDLE * changes.sum() < left_out <= IDLE * changes.sum()
    assert kept.start.tolist() == [0, kept.index.size]
    assert np.abs(distance[kept.index]).max() < 5.5


def test_draws_of_dear_steps_begin_close_and_may_be_spread_more_often(monkeypatch):
    monkeypatch.setattr(stochastic, "DEAR", 1)
    dear = started(2)
    assert dear.plan.thin == 1
    monkeypatch.undo()
    monkeypatch.setattr(stochastic, "COSTLY", 1)
    monkeypatch.setattr(stochastic, "CHEAPER", 1000)
    usual = started(2)
    assert usual.plan.closer == 0
    assert dear.plan.thin * 2**dear.plan.closer >= 2 * usual.plan.thin
