"""Residuals of rows left out, and intervals that hold new values as often as they say."""

import numpy as np
import pytest
from scipy.stats import t as student

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.calibration.tilted import tilted_moments, without_rows
from bayesmargin.likelihoods import Absolute, EpsilonInsensitive, PiecewiseLinear, Pinball

LOSSES = [
    EpsilonInsensitive(0.3),
    Pinball(0.2),
    Absolute(),
    PiecewiseLinear(-2.0, (-1.0, 0.5), (1.5, 3.0)),
]


@pytest.mark.parametrize("likelihood", LOSSES, ids=str)
@pytest.mark.parametrize("cost", [0.01, 2.0])
def test_tilted_laws_are_those_of_quadrature_and_are_found_again(likelihood, cost):
    rng = np.random.default_rng(0)
    y, mean, variance = rng.normal(size=8), rng.normal(size=8), rng.exponential(size=8)
    pieces = likelihood.pieces(y)
    scores = np.linspace(-15.0, 15.0, 200_001)[:, None]
    density = np.exp(-0.5 * (scores - mean) ** 2 / variance - cost * pieces.value(scores))
    density /= density.sum(axis=0)
    wanted = (density * scores).sum(axis=0)
    spread = (density * (scores - wanted) ** 2).sum(axis=0)
    slopes = cost * (pieces.slope + np.concatenate([[0.0], np.cumsum(pieces.jumps)]))
    slopes = np.broadcast_to(slopes[:, None], (len(slopes), 8))
    found = tilted_moments(pieces.kinks, slopes, mean, variance)
    assert found[0] == pytest.approx(wanted, abs=1e-7)
    assert found[1] == pytest.approx(spread, abs=1e-7)
    again = without_rows(pieces, np.full(8, cost), wanted, spread)
    assert again[0] == pytest.approx(mean, abs=1e-5)
    assert again[1] == pytest.approx(variance, abs=1e-5)


def test_far_from_all_kinks_a_row_only_moves_the_law():
    pieces = Pinball(0.3).pieces(np.array([1e4, -1e4]))
    mean, variance = without_rows(pieces, np.full(2, 5.0), np.zeros(2), np.full(2, 4.0))
    assert mean == pytest.approx([-6.0, 14.0])
    assert variance == pytest.approx(4.0)


def rows(seed, n, p):
    """Noise with long tails whose size depends on the row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 20_000, p))
    y = X @ rng.normal(size=p) + (0.5 + np.abs(X[:, 0])) * rng.standard_t(4, size=n + 20_000)
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize(
    "model",
    [
        BayesianLinearSVR(C="auto"),
        BayesianLinearSVR(C=1.0, epsilon=0.0),
        BayesianQuantileRegressor(0.2, C="auto"),
        BayesianQuantileRegressor([0.05, 0.5, 0.95], C="auto"),
        BayesianQuantileRegressor([0.25, 0.75], C=3.0),
    ],
    ids=str,
)
@pytest.mark.parametrize(("n", "p", "repeats"), [(80, 16, 8), (1000, 3, 2)])
def test_new_values_lie_inside_as_often_as_intervals_say(model, n, p, repeats):
    """The share over samples; of one sample of n rows it has a deviation of sqrt(q (1 - q) / n)."""
    levels, shares = (0.5, 0.8, 0.9, 0.95), []
    for seed in range(repeats):
        X, y, new, truth = rows(seed, n, p)
        model.set_params(n_draws=200, n_chains=2, random_state=seed).fit(X, y)
        ends = [model.predict_interval(new, coverage=level).T for level in levels]
        assert all((low <= high).all() for low, high in ends)
        shares.append([np.mean((low <= truth) & (truth <= high)) for low, high in ends])
    error = np.sqrt(np.array(levels) * (1.0 - np.array(levels)) / (n * repeats))
    assert np.all(np.abs(np.mean(shares, axis=0) - levels) < 0.015 + 3.0 * error)


def test_intervals_widen_where_rows_are_few_or_noise_is_large():
    X, y, _, _ = rows(0, 60, 4)
    svr = BayesianLinearSVR(C="auto", random_state=0).fit(X, y)
    near, far = np.diff(svr.predict_interval([[0.0] * 4, [0.0, 9.0, 9.0, 9.0]]), axis=1)
    assert far > 1.5 * near
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(2000, 1))
    y = (0.1 + X[:, 0]) * rng.standard_normal(2000)
    fan = BayesianQuantileRegressor([0.05, 0.5, 0.95], C="auto", random_state=0).fit(X, y)
    for coverage, half in ((0.5, 0.6745), (0.9, 1.645)):
        ends = fan.predict_interval([[0.0], [1.0]], coverage)
        assert ends == pytest.approx(half * np.array([[-0.1, 0.1], [-1.1, 1.1]]), abs=0.12)


def test_parts_that_come_one_after_another_are_near_one_fit():
    X, y, new, truth = rows(0, 2000, 3)
    for make in (BayesianLinearSVR, lambda **s: BayesianQuantileRegressor([0.1, 0.9], **s)):
        whole = make(C="auto", random_state=0).fit(X, y)
        parts = make(C="auto", random_state=0)
        parts.partial_fit(X[:800], y[:800]).partial_fit(X[800:], y[800:])
        spread = whole.posterior_["coef"].std(axis=(0, 1))
        assert np.sqrt(np.mean(((parts.coef_ - whole.coef_) / spread) ** 2)) < 0.8
        assert len(parts.left_out_.weight) == 2000
        low, high = parts.predict_interval(new).T
        assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("coverage", [0.0, 1.0, "most", True])
def test_a_share_that_is_none_is_refused(coverage):
    X, y, _, _ = rows(0, 60, 2)
    model = BayesianLinearSVR(n_draws=50, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="coverage="):
        model.predict_interval(X, coverage)


def test_ends_between_order_statistics_promise_neither_too_much_nor_too_little():
    """Of 75 residuals the next larger ones would hold 92.1 and 97.4% in place of 90 and 95."""
    rng = np.random.default_rng(0)
    values = rng.standard_t(4, size=(4000, 75))
    for coverage in (0.5, 0.9, 0.95):
        held = []
        for own in values:
            found = LeftOut(own[:, None], np.zeros((75, 1)), np.ones(75), np.ones(1))
            low, high = found.around(np.zeros(1), np.zeros(1), coverage)
            held.append(student.cdf(high[0], 4) - student.cdf(low[0], 4))
        assert np.mean(held) == pytest.approx(coverage, abs=0.006)
