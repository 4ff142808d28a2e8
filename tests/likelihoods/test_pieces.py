"""Losses of one score: values, slopes, and the hinges that they are made of."""

import numpy as np
import pytest

from bayesmargin.likelihoods import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    PiecewiseLinear,
    Pinball,
)
from bayesmargin.likelihoods.pieces import hinges_of
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.targets.problem import posterior_of
from bayesmargin.validation import quadrature

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
VALUES = np.array([1.0, -0.5, 0.8, 1.2, 0.3])
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])

PLAIN = {  # the loss as it is written in textbooks
    Hinge(0.7): lambda s, y: np.maximum(0.7 - y * s, 0.0),
    EpsilonInsensitive(0.4): lambda s, y: np.maximum(np.abs(y - s) - 0.4, 0.0),
    EpsilonInsensitive(0.0): lambda s, y: np.abs(y - s),
    Absolute(): lambda s, y: np.abs(y - s),
    Pinball(0.2): lambda s, y: np.where(y > s, 0.2 * (y - s), 0.8 * (s - y)),
    PiecewiseLinear(-2.0, (-1.0, 0.5), (1.5, 3.0)): lambda s, y: np.where(
        s - y < -1.0,
        -2.0 * (s - y + 1.0) + 0.5,
        np.where(s - y < 0.5, -0.5 * (s - y), -0.25 + 2.5 * (s - y - 0.5)),
    ),
}

FIXTURES = {  # log normaliser, means, second moments under a standard normal prior
    "hinge": (
        Hinge(), LABELS, 1.0,
        (-4.594008381, 0.489688478, -0.833412698, 0.597299673, 1.131520915, -0.432724829),
    ),
    "epsilon": (
        EpsilonInsensitive(0.25), VALUES, 1.5,
        (-3.680100457, 0.629991841, -0.389877456, 0.492830601, 0.288291616, -0.270367699),
    ),
    "pinball": (
        Pinball(0.25), VALUES, 2.0,
        (-3.265013326, 0.248506041, -0.451391559, 0.258342519, 0.444387692, -0.159159097),
    ),
    "absolute": (
        Absolute(), VALUES, 1.0,
        (-3.968837975, 0.609715737, -0.349684100, 0.519267795, 0.323273339, -0.253518142),
    ),
}  # fmt: skip


@pytest.mark.parametrize("likelihood", PLAIN, ids=str)
def test_pieces_hinges_and_slopes_are_those_of_the_loss(likelihood):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 500) if isinstance(likelihood, Hinge) else rng.normal(size=500)
    score = 3.0 * rng.standard_normal(500)
    wanted = PLAIN[likelihood](score, y)
    assert likelihood.loss(y, score) == pytest.approx(wanted, abs=1e-12)
    pieces, cost = likelihood.pieces(y), rng.exponential(size=500)
    slope = (pieces.value(score + 1e-7) - pieces.value(score - 1e-7)) / 2e-7
    assert pieces.gradient(score) == pytest.approx(slope, abs=1e-6)
    terms, costs = hinges_of(pieces, cost)
    again = np.tile(score, len(pieces.jumps))
    parts = np.maximum(terms.level - terms.side * again, 0.0) + terms.slope * again + terms.offset
    assert (costs * parts).reshape(-1, 500).sum(axis=0) == pytest.approx(cost * wanted, abs=1e-12)


def test_what_is_hinges_alone_has_no_slope():
    for likelihood in (Hinge(), EpsilonInsensitive(0.1)):
        assert not hinges_of(likelihood.pieces(LABELS), np.ones(5))[0].tilted
    terms, cost = hinges_of(Pinball(0.3).pieces(np.zeros(10**6)), np.broadcast_to(1.0, 10**6))
    assert terms.tilted
    assert {terms.side.strides, terms.slope.strides, cost.strides} == {(0,)}  # a number each


@pytest.mark.parametrize("name", FIXTURES)
def test_quadrature_gives_the_known_moments(name):
    likelihood, y, cost, known = FIXTURES[name]
    prior = GaussianBelief(np.zeros(2), np.ones(2))
    source = DenseSource(ROWS, intercept=False)
    problem = posterior_of(likelihood, source, y, np.full(5, cost), prior)
    found = quadrature(problem)
    second = found.second
    assert found.log_integral - np.log(2.0 * np.pi) == pytest.approx(known[0], abs=2e-5)
    assert found.mean == pytest.approx(known[1:3], abs=2e-5)
    assert [second[0, 0], second[1, 1], second[0, 1]] == pytest.approx(known[3:], abs=2e-5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EpsilonInsensitive(-0.1), "epsilon=-0.1"),
        (lambda: EpsilonInsensitive(np.nan), "epsilon=nan"),
        (lambda: Pinball(1.0), "quantile=1.0"),
        (lambda: Pinball("half"), "quantile='half'"),
        (lambda: Hinge(np.inf), "margin=inf"),
        (lambda: Hinge().pieces(np.array([1.0, 0.0])), "y holds"),
        (lambda: PiecewiseLinear(-1.0, (0.0,), (-2.0,)), "not convex"),
        (lambda: PiecewiseLinear(-1.0, (0.0,), ()), "1 kinks and 0 jumps"),
    ],
)
def test_what_is_no_loss_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
