"""The sweep visits matrices as often as the prior and a likelihood say."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from bayesmargin.foundation.compiling import implements
from bayesmargin.models.buffet import sweep
from bayesmargin.models.buffet.features import features_of, invariants
from bayesmargin.models.buffet.prior import (
    draw_buffet,
    draw_concentration,
    harmonic,
    log_prior,
)

from .enumeration import distance, law, matrices, name_of


class Wanted(NamedTuple):
    """A toy: rows pay for features, shared ones less than their own, and want some number."""

    number: np.ndarray
    price: float


@implements(sweep.begin_row, Wanted)
def _(view, features, row, rng):
    pass


@implements(sweep.gain, Wanted)
def _(view, features, row, column):
    others = -features.held[row, column]
    for k in range(features.size[0]):
        others += features.held[row, k]
    short = view.number[row] - others
    return view.price * (abs(short) - abs(short - 1.0))


@implements(sweep.flipped, Wanted)
def _(view, features, row, column, change):
    pass


@implements(sweep.loosen, Wanted)
def _(view, features, row, rng):
    pass


@implements(sweep.move, Wanted)
def _(view, features, source, target):
    pass


@implements(sweep.weigh, Wanted)
def _(view, features, row, number):
    old = 0
    for k in range(features.size[0]):
        old += features.held[row, k]
    return -view.price * abs(view.number[row] - old - number)


@implements(sweep.create, Wanted)
def _(view, features, row, first, count, rng):
    pass


@implements(sweep.end_row, Wanted)
def _(view, features, row):
    pass


def visited(view, concentration, n_sweeps, seed=0, assumed=None):
    """Names of the matrices after every sweep."""
    rng = np.random.default_rng(seed)
    n_rows = len(view.number)
    features = features_of(np.zeros((n_rows, 0), int), 64)
    counts, names = np.zeros(2, np.int64), []
    for _ in range(n_sweeps):
        done = sweep.sweep_rows(view, features, assumed or concentration, 0, counts, rng)
        assert done == n_rows
        assert (features.held.sum(axis=0) == features.holders).all()
        assert (features.holders[: features.size[0]] > 0).all()
        assert (features.holders[features.size[0] :] == 0).all()
        names.append(name_of(features.matrix))
    return names


RATE = 0.6


def expected(view):
    """The law of the toy. Beyond eight features lies some 1e-5 of the prior."""
    return law(
        3, 8, RATE, lambda z: -view.price * np.abs(view.number - z.sum(axis=1)).sum()
    )  # fmt: skip


@pytest.mark.parametrize("price", [0.0, 0.7])
def test_matrices_are_as_frequent_as_enumeration_says(price):
    view = Wanted(np.array([1.0, 2.0, 0.0]), price)
    # 20,000 independent draws are 0.013 away in the mean, and sweeps depend on each other.
    assert distance(visited(view, RATE, 20_000), expected(view)) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("price", [0.0, 0.7])
def test_long_chains_come_within_a_hundredth(price):
    view = Wanted(np.array([1.0, 2.0, 0.0]), price)
    assert distance(visited(view, RATE, 300_000), expected(view)) < 0.01


def test_a_planted_mistake_is_noticed():
    """A concentration that is a third too large."""
    view = Wanted(np.array([1.0, 2.0, 0.0]), 0.7)
    names = visited(view, RATE, 20_000, assumed=4.0 * RATE / 3.0)
    assert distance(names, expected(view)) > 0.05


def test_a_sweep_ends_where_room_does_and_goes_on():
    view = Wanted(np.full(6, 5.0), 3.0)
    rng = np.random.default_rng(0)
    counts = np.zeros(2, np.int64)
    features = features_of(np.zeros((6, 0), int), 1)
    row = sweep.sweep_rows(view, features, 2.0, 0, counts, rng)
    assert 0 < row < 6
    features = features_of(features.matrix, 64)
    assert sweep.sweep_rows(view, features, 2.0, row, counts, rng) == 6
    assert counts[1] > 0


def test_the_prior_adds_up_to_one_and_is_that_of_draws():
    rng = np.random.default_rng(0)
    total = sum(np.exp(log_prior(z, 0.8)) for z in matrices(3, 8))
    assert total == pytest.approx(1.0, abs=1e-4)
    names = [name_of(draw_buffet(rng, 3, RATE)) for _ in range(20_000)]
    assert distance(names, law(3, 8, RATE, lambda z: 0.0)) < 0.02
    with pytest.raises(ValueError, match="without a one"):
        log_prior(np.zeros((2, 1), int), 1.0)


def test_concentration_has_its_conditional_law():
    rng = np.random.default_rng(0)
    draws = [draw_concentration(rng, 7, 12, 2.0, 0.5) for _ in range(5000)]
    law_of = stats.gamma(9.0, scale=1.0 / (0.5 + harmonic(12)))
    assert stats.kstest(draws, law_of.cdf).pvalue > 1e-3


def test_figures_do_not_depend_on_the_order_of_the_columns():
    matrix = draw_buffet(np.random.default_rng(3), 9, 2.0)
    found = invariants(matrix)
    assert found == invariants(matrix[:, ::-1])
    assert found["alike"] == pytest.approx(np.mean((matrix @ matrix.T) ** 2.0))
