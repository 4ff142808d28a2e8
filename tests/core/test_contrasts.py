"""What all classes share is drawn exactly, and the contrasts lose nothing by it."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import multiclass
from bayesmargin.approximation.contrasts import without_shared_part
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.priors.shared import SharedPart, shared_part
from bayesmargin.running import rounds
from bayesmargin.samplers import SSGLD, SSGNHT
from bayesmargin.targets.coordinates import rotated

CLASSES, SIZE = 3, 4
N = CLASSES * SIZE


def _belief(kind, rng):
    mean = rng.normal(size=N)
    if kind == "diagonal":
        return GaussianBelief(mean, rng.gamma(2.0, size=N))
    root = rng.normal(size=(N, 2 * N))
    return GaussianBelief(mean, root @ root.T)


def _matrix(belief):
    precision = belief.precision
    return np.diag(precision) if precision.ndim == 1 else precision


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_shifts_have_the_law_that_the_prior_gives_them(kind):
    """Along the shift the log density is a parabola: its top and its curvature tell the law."""
    rng = np.random.default_rng(0)
    belief = _belief(kind, rng)
    weights = rng.normal(size=N)
    every = np.tile(np.eye(SIZE), (CLASSES, 1))
    precision = every.T @ _matrix(belief) @ every
    top = np.linalg.solve(precision, -every.T @ _matrix(belief) @ (weights - belief.mean))
    shared = SharedPart(belief, CLASSES)
    np.testing.assert_allclose(shared.removed(weights), weights + every @ top)
    drawn = shared.redrawn(np.tile(weights, (40_000, 1)), rng) - weights
    shifts = drawn[:, :SIZE]
    np.testing.assert_allclose(drawn, shifts @ every.T, atol=1e-12)
    exact = np.linalg.inv(precision)
    error = np.sqrt(np.diag(exact) / 40_000)
    assert np.abs((shifts.mean(axis=0) - top) / error).max() < 4.0
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs((np.cov(shifts.T) - exact) / scale).max() < 0.03


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_contrasts_keep_the_covariance_of_all_differences(kind):
    rng = np.random.default_rng(1)
    belief = _belief(kind, rng)
    anchor = GaussianAnchor(rng.normal(size=N), rng.normal(size=(N, N)))
    shared = SharedPart(belief, CLASSES)
    small = without_shared_part(anchor, shared)
    assert small.factor.shape == (N, N - SIZE)
    assert small.n_directions == N - SIZE
    rows = np.kron(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), np.eye(SIZE))
    before, after = rows @ anchor.factor, rows @ small.factor
    np.testing.assert_allclose(after @ after.T, before @ before.T)
    np.testing.assert_allclose(rows @ small.mean, rows @ anchor.mean)
    np.testing.assert_allclose(shared.removed(small.mean), small.mean)
    np.testing.assert_allclose(
        shared.removed(small.mean + small.factor.T), small.mean + small.factor.T
    )
    assert rotated(small.mean, small.factor).triangular


def test_where_there_is_no_shared_part_nothing_changes():
    rng = np.random.default_rng(2)
    belief = _belief("diagonal", rng)
    assert shared_part(belief, 1) is None
    assert shared_part(LaplaceBelief(np.ones(N)), CLASSES) is None
    blocks = GaussianAnchor(np.zeros(N), np.stack([np.eye(SIZE)] * CLASSES))
    shared = SharedPart(belief, CLASSES)
    same = without_shared_part(blocks, shared)
    assert same.factor is blocks.factor  # which cannot tell contrasts apart, as the mean can
    np.testing.assert_allclose(same.mean, shared.removed(blocks.mean))


def _three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    W = rng.normal(size=(3, 3))
    return X, (X @ W.T + rng.gumbel(size=(300, 3))).argmax(axis=1)


@pytest.fixture(scope="module")
def exact():
    X, y = _three_classes()
    return BayesianLinearSVC(sampler="gibbs", n_draws=5000, random_state=0).fit(X, y)


def _parts(model):
    """Draws of the shared part and of the contrasts, intercepts included."""
    draws = model.posterior_["coef"], model.posterior_["intercept"][..., None]
    table = np.concatenate(draws, axis=-1).reshape(-1, 3, 4)
    shared = table.mean(axis=1)
    return shared, table - shared[:, None]


@pytest.mark.parametrize(
    "sampler", ["auto", SSGNHT(integrator="badodab"), SSGLD()], ids=["auto", "badodab", "ssgld"]
)
def test_both_parts_of_the_posterior_are_as_wide_as_they_should_be(sampler, exact):
    """The thermostat kept the shared part 8% too narrow and the contrasts 3% too wide."""
    X, y = _three_classes()
    model = BayesianLinearSVC(sampler=sampler, n_draws=5000, random_state=0).fit(X, y)
    (shared, contrasts), (_, truth) = _parts(model), _parts(exact)
    assert np.abs(3.0 * shared.var(axis=0) - 1.0).max() < 0.05  # N(0, 1/3), independent draws
    assert np.abs(shared.mean(axis=0)).max() < 4.0 / np.sqrt(3.0 * len(shared))
    ratio = contrasts.var(axis=0) / truth.var(axis=0)
    assert abs(ratio.mean() - 1.0) < (0.02 if sampler == "auto" else 0.05)
    deviation = truth.std(axis=0)
    assert np.abs((contrasts.mean(axis=0) - truth.mean(axis=0)) / deviation).max() < 0.12
    assert model.diagnostics_.trustworthy


@pytest.mark.parametrize("integrator", ["ssi", "badodab"])
def test_blocks_of_weights_have_the_same_posterior(integrator, exact, monkeypatch):
    """More weights than a full covariance is kept for have one block a class."""
    monkeypatch.setattr(multiclass, "FULL_LIMIT", 5)
    X, y = _three_classes()
    sampler = SSGNHT(integrator=integrator)
    model = BayesianLinearSVC(sampler=sampler, n_draws=5000, random_state=0).fit(X, y)
    (shared, contrasts), (_, truth) = _parts(model), _parts(exact)
    assert np.abs(3.0 * shared.var(axis=0) - 1.0).max() < 0.05
    ratio = contrasts.var(axis=0) / truth.var(axis=0)
    assert abs(ratio.mean() - 1.0) < 0.07
    deviation = truth.std(axis=0)
    assert np.abs((contrasts.mean(axis=0) - truth.mean(axis=0)) / deviation).max() < 0.12
    assert abs(model.diagnostics_.bias) < 0.07
    assert model.diagnostics_.trustworthy


def test_rounds_of_any_length_give_the_same_draws_of_blocks(monkeypatch):
    monkeypatch.setattr(multiclass, "FULL_LIMIT", 5)
    X, y = _three_classes()
    draws = []
    for seconds in (1e-4, 10.0):
        monkeypatch.setattr(rounds, "ROUND_SECONDS", seconds)
        model = BayesianLinearSVC(n_draws=200, n_chains=2, random_state=0, n_jobs=1)
        draws.append(model.fit(X, y).posterior_["coef"])
    np.testing.assert_array_equal(*draws)


def test_a_second_part_of_the_rows_keeps_the_shared_part():
    X, y = _three_classes()
    model = BayesianLinearSVC(random_state=0, n_draws=2000)
    model.partial_fit(X[:150], y[:150], classes=[0, 1, 2]).partial_fit(X[150:], y[150:])
    shared, _ = _parts(model)
    assert np.abs(3.0 * shared.var(axis=0) - 1.0).max() < 0.1
