"""One-vs-rest on wide rows in one go: the product of the binary posteriors, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor, wide_separate
from bayesmargin.approximation.columns import minimise_columns
from bayesmargin.approximation.screening import roughness
from bayesmargin.approximation.wide import Passes, WideAnchor, fit_wide_anchor
from bayesmargin.approximation.wide_order import by_class, interleaved
from bayesmargin.approximation.wide_targets import wide_coordinates, wide_states, wide_target
from bayesmargin.diagnostics.convergence import rhat_and_bulk_ess
from bayesmargin.dynamics.hamiltonian import energy_of
from bayesmargin.foundation.compiling import jit
from bayesmargin.models.linear import one_vs_rest
from bayesmargin.models.linear.one_vs_rest import all_classes
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.rows import DenseSource, SparseSource
from bayesmargin.samplers import SGHMC, SSGLD, SSGNHT, AugmentationGibbs, Auto, SubgradientHMC
from bayesmargin.samplers.augmentation import augmented
from bayesmargin.targets.coordinates import (
    Scaled,
    Sheared,
    fill_weights,
    positions_from,
    pull_back,
    weights_from,
)
from bayesmargin.targets.problem import Problem, slacks
from bayesmargin.targets.rows import workspace

CLASSES = 3


def rows(n_rows=60, n_columns=900, seed=0):
    """Unit rows of 20 positive entries, and classes of unequal size that they tell apart."""
    rng = np.random.default_rng(seed)
    columns = np.concatenate([rng.choice(n_columns, 20, replace=False) for _ in range(n_rows)])
    values = rng.uniform(0.5, 1.5, n_rows * 20)
    X = sparse.csr_array((values, columns, 20 * np.arange(n_rows + 1)), shape=(n_rows, n_columns))
    X.sort_indices()
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), 20)
    score = X @ rng.standard_normal(n_columns)
    return X, np.digitize(score, np.quantile(score, [0.2, 0.5]))


def together(X, y, cost=2.0, prior=None, dense=False):
    source = DenseSource(X.toarray(), True) if dense else SparseSource(X, True)
    size = CLASSES * source.n_columns
    prior = prior or GaussianBelief(np.zeros(size), np.repeat([1.0, 2.0, 4.0], source.n_columns))
    weight = cost * np.linspace(0.5, 1.5, len(y))
    return Problem(source, y, CLASSES, weight, 1.0, prior, separate=True)


def alone(problem, k):
    """The binary problem of one class."""
    own = slice(k * problem.source.n_columns, (k + 1) * problem.source.n_columns)
    prior = problem.prior
    if isinstance(prior, GaussianBelief):
        prior = GaussianBelief(prior.mean[own], prior.precision[own])
    else:
        prior = LaplaceBelief(prior.scale[own])
    label = (problem.label == k).astype(int)
    return replace(problem, label=label, n_classes=2, prior=prior, separate=False)


def anchor_alone(anchor, k):
    mean, scale = (
        by_class(a, CLASSES).reshape(CLASSES, -1)[k] for a in (anchor.mean, anchor.scale)
    )
    return WideAnchor(mean, scale, np.zeros((0, mean.size)), np.zeros(0), anchor.deviation[:, k], 0)


def some_anchor(problem, seed=0):
    """An anchor that is not at the minimum of anything."""
    rng = np.random.default_rng(seed)
    size = problem.n_weights
    scale = rng.uniform(0.2, 1.0, size)
    deviation = Passes(problem).deviations(scale)
    none = np.zeros((0, size))
    return WideAnchor(rng.standard_normal(size), scale, none, np.zeros(0), deviation, 0)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("batch", ["whole", "plain"])
def test_energy_and_gradient_are_those_of_the_classes_one_by_one(kind, batch):
    X, y = rows()
    laplace = LaplaceBelief(np.random.default_rng(1).uniform(0.5, 2.0, CLASSES * 901))
    problem = together(X, y, prior=laplace if kind == "laplace" else None)
    anchor = some_anchor(problem)

    def at(problem, anchor, position):
        rng = np.random.default_rng(0)
        states = wide_states(problem, anchor)
        prepared = wide_target(
            problem, anchor, states, 1000, 0.1, rng, control_variates=batch == "whole"
        )
        work = workspace(prepared.target, np.float64)
        return energy_of(prepared.target, position, work), work.gradient

    position = np.random.default_rng(2).standard_normal(problem.n_weights)
    value, gradient = at(problem, anchor, position)
    table = position.reshape(-1, CLASSES)
    parts = [
        at(alone(problem, k), anchor_alone(anchor, k), np.ascontiguousarray(table[:, k]))
        for k in range(CLASSES)
    ]
    assert value == pytest.approx(sum(part[0] for part in parts), rel=1e-10)
    expected = np.stack([part[1] for part in parts], axis=1).ravel()
    np.testing.assert_allclose(gradient, expected, atol=1e-10 * np.abs(expected).max())
    assert np.abs(expected).max() > 1.0


@pytest.mark.parametrize("dense", [False, True])
def test_the_smoothed_energy_is_that_of_the_classes_one_by_one(dense):
    X, y = rows()
    problem = together(X, y, dense=dense)
    anchor = some_anchor(problem)
    value, gradient, diagonal = Passes(problem).energy(
        anchor.mean, anchor.scale, anchor.deviation, curvature=True
    )
    parts = []
    for k in range(CLASSES):
        passes, own = Passes(alone(problem, k)), anchor_alone(anchor, k)
        np.testing.assert_allclose(passes.deviations(own.scale), own.deviation, rtol=1e-12)
        parts.append(passes.energy(own.mean, own.scale, own.deviation, curvature=True))
    assert value == pytest.approx(sum(part[0] for part in parts), rel=1e-12)
    for found, place in ((gradient, 1), (diagonal, 2)):
        expected = interleaved(np.concatenate([part[place] for part in parts]), CLASSES)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_a_row_is_as_near_as_its_nearest_class_and_the_roughest_class_sets_the_step():
    problem = together(*rows())
    anchor = some_anchor(problem)
    states = wide_states(problem, anchor)
    own = [wide_states(alone(problem, k), anchor_alone(anchor, k)) for k in range(CLASSES)]
    distances = np.abs([part.distance for part in own])
    np.testing.assert_allclose(states.distance, distances.min(axis=0))
    np.testing.assert_allclose(states.reach, np.max([part.reach for part in own], axis=0))
    np.testing.assert_array_equal(states.reference.T, [part.reference for part in own])
    rough = [roughness(part.distance, part.reach) for part in own]
    assert states.roughness == pytest.approx(max(rough))
    assert max(rough) > 1.01 * min(rough)
    drift = interleaved(np.concatenate([part.drift for part in own]), CLASSES)
    np.testing.assert_allclose(states.drift, drift, atol=1e-10)


def test_the_anchor_is_that_of_the_classes_one_by_one():
    problem = together(*rows(n_rows=200))
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    means = by_class(anchor.mean, CLASSES).reshape(CLASSES, -1)
    for k in range(CLASSES):
        own, passes = anchor_alone(anchor, k), Passes(alone(problem, k))
        _, gradient, diagonal = passes.energy(means[k], own.scale, own.deviation, curvature=True)
        # What is left to fall, in nats, and how far the deviations are from settled.
        assert 0.5 * np.sum((own.scale * gradient) ** 2) < 0.1
        assert np.mean(np.abs(np.log(diagonal * own.scale**2))) < 0.02


def test_one_deviation_a_row_serves_where_a_table_would_be_large(monkeypatch):
    problem = together(*rows())
    each = fit_wide_anchor(problem, np.random.default_rng(0))
    monkeypatch.setattr(wide_separate, "LARGEST_TABLE", 1000)
    shared = fit_wide_anchor(problem, np.random.default_rng(0))
    assert each.deviation.shape == (60, CLASSES)
    assert shared.deviation.shape == (60, 1)
    assert np.sqrt(np.mean(((each.mean - shared.mean) / each.scale) ** 2)) < 0.1
    prepared = wide_target(
        problem, shared, wide_states(problem, shared), None, 0.1, np.random.default_rng(0)
    )
    assert prepared.n_rows_used == 60


def test_columns_of_different_curvature_are_minimised_at_their_own_pace():
    rng = np.random.default_rng(0)
    curvature = np.stack([np.linspace(1.0, top, 40) for top in (2.0, 30.0, 300.0)], axis=1)
    target = rng.standard_normal((40, 3))
    calls = []

    def gradient_at(table):
        calls.append(1)
        return curvature * (table - target) + (table - target) ** 3

    found = minimise_columns(gradient_at, np.zeros((40, 3)), 120, 1e-12)
    np.testing.assert_allclose(found, target, atol=1e-5)
    assert len(calls) < 120

    def gradient_of_last(table):
        return curvature[:, 2:] * (table - target[:, 2:]) + (table - target[:, 2:]) ** 3

    single = minimise_columns(gradient_of_last, np.zeros((40, 1)), 10, 0.0)
    several = minimise_columns(gradient_at, np.zeros((40, 3)), 10, 0.0)
    np.testing.assert_allclose(several[:, 2:], single, rtol=1e-10)


def figures(model):
    """Means, deviations and effective draws of the intercepts."""
    draws = np.asarray(model.posterior_["intercept"], dtype=float)
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)), rhat_and_bulk_ess(draws)[1]


def test_the_posterior_agrees_with_exact_sampling_class_by_class():
    X, y = rows()
    settings = {"C": 2.0, "multi_class": "ovr"}
    exact = BayesianLinearSVC(
        sampler=AugmentationGibbs(), random_state=0, n_chains=2, n_draws=400, **settings
    )
    mean, deviation, ess = figures(exact.fit(X, y))
    sampler = SSGNHT(integrator="badodab", burn_in=200, thin=10)
    model = BayesianLinearSVC(sampler=sampler, random_state=1, n_draws=400, **settings).fit(X, y)
    assert model.posterior_.attrs["rows_in_reach"] == 60
    other, width, more = figures(model)
    error = np.sqrt(1.0 / ess + 1.0 / more)
    assert np.all(np.abs(other - mean) / deviation < 0.05 + 3.5 * error)
    assert np.all(np.abs(width / deviation - 1.0) < 0.03 + 3.5 * error)
    a, b = exact.posterior_.flat("coef"), model.posterior_.flat("coef")
    shift = (b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)
    assert np.sqrt(np.mean(shift**2)) < 0.06
    assert np.mean(b.var(axis=0) / a.var(axis=0)) == pytest.approx(1.0, abs=0.03)


def test_threads_change_no_draw():
    X, y = rows()
    sampler = SSGNHT(burn_in=10, thin=1)
    settings = {"multi_class": "ovr", "sampler": sampler, "n_draws": 6, "random_state": 5}
    one = BayesianLinearSVC(n_jobs=1, **settings)
    two = BayesianLinearSVC(n_jobs=2, **settings)
    with pytest.warns(UserWarning, match=r"converged|NaN|R-hat"):
        one.fit(X, y)
    with pytest.warns(UserWarning, match=r"converged|NaN|R-hat"):
        two.fit(X, y)
    np.testing.assert_array_equal(one.posterior_["coef"], two.posterior_["coef"])
    assert one.posterior_["coef"].shape == (4, 6, CLASSES, 900)
    assert np.ptp(one.posterior_["coef"], axis=1).min() > 0.0


@pytest.mark.parametrize(
    "sampler", [SSGNHT(integrator="badodab"), SGHMC()], ids=["ssgnht", "sghmc"]
)
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_models_predict_and_go_on_with_further_rows(sampler, prior):
    X, y = rows(n_rows=240)
    model = BayesianLinearSVC(
        C=2.0, prior=prior, multi_class="ovr", sampler=sampler, n_draws=200, random_state=0
    )
    model.partial_fit(X[:120], y[:120], classes=np.arange(CLASSES))
    first = model.posterior_["coef"].var(axis=(0, 1)).mean()
    assert (model.predict(X[:120]) == y[:120]).mean() > 0.95
    model.partial_fit(X[120:], y[120:])
    assert (model.predict(X) == y).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.posterior_["coef"].var(axis=(0, 1)).mean() < first


def test_classes_are_joined_only_where_that_saves_something(monkeypatch):
    X, y = rows(n_rows=700)
    whole = together(X, y)
    one = alone(whole, 0)
    priors = [alone(whole, k).prior for k in range(CLASSES)]
    for sampler in (Auto(), SSGNHT(), SGHMC(), SSGLD(), SSGNHT(preconditioner=None, step=0.1)):
        joint = all_classes(one, y, priors, sampler)
        assert joint is not None
        assert joint.separate
        assert joint.n_weights == CLASSES * 901
        np.testing.assert_array_equal(joint.prior.precision, whole.prior.precision)
    plain = SSGNHT(preconditioner=None, control_variates=False, step=0.01)
    for sampler in (AugmentationGibbs(), SubgradientHMC(), SSGLD(batch_size=4), plain):
        assert all_classes(one, y, priors, sampler) is None
    few = replace(one, source=SparseSource(X[:60], True), label=one.label[:60], cost=one.cost[:60])
    assert all_classes(few, y[:60], priors, Auto()) is None
    narrow = replace(one, source=SparseSource(X[:, :100], True))
    assert all_classes(narrow, y, priors, Auto()) is None
    mixed = [priors[0], priors[1], LaplaceBelief(np.ones(901))]
    assert all_classes(one, y, mixed, Auto()) is None
    monkeypatch.setattr(one_vs_rest, "MOST_WEIGHTS", CLASSES * 901 - 1)
    assert all_classes(one, y, priors, Auto()) is None


def test_samplers_of_one_hinge_refuse_many():
    problem = together(*rows(), dense=True)
    with pytest.raises(ValueError, match="a problem of two classes for each class"):
        fit_anchor(problem, np.random.default_rng(0))
    with pytest.raises(ValueError, match="a problem of two classes for each class"):
        augmented(problem)
    with pytest.raises(ValueError, match="a problem of two classes for each class"):
        slacks(problem, np.zeros((1, problem.n_weights)))


def sheared():
    X, y = rows()
    problem = together(X, y)
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    return problem, anchor, wide_coordinates(anchor)


def test_sheared_coordinates_and_their_gradient_fit_together():
    problem, _, coordinates = sheared()
    assert isinstance(coordinates, Sheared)
    rng = np.random.default_rng(1)
    positions = rng.standard_normal((3, problem.n_weights))
    there = weights_from(coordinates, positions)
    np.testing.assert_allclose(positions_from(coordinates, there), positions, atol=1e-10)
    out = np.empty(problem.n_weights)
    fill_weights(coordinates, positions[0], out)
    np.testing.assert_allclose(out, there[0], atol=1e-12)
    slope = rng.standard_normal(problem.n_weights)
    _pulled(coordinates, slope, out)
    change = there[1] - there[0]
    assert out @ (positions[1] - positions[0]) == pytest.approx(slope @ change, rel=1e-10)


@jit
def _pulled(coordinates, gradient, out):
    pull_back(coordinates, gradient, out)


def test_the_intercepts_are_nearly_free_of_the_words():
    problem, anchor, coordinates = sheared()
    passes = Passes(problem)

    def slope_change(kind, k):
        """Change of the gradient in the coordinates when the intercept of a class moves."""
        position = np.zeros(problem.n_weights)
        position[k - CLASSES] = 1e-3
        pulled = []
        for at in (position, -position):
            weights = weights_from(kind, at)
            _, gradient, _ = passes.energy(weights, anchor.scale, anchor.deviation)
            out = np.empty_like(gradient)
            _pulled(kind, gradient, out)
            pulled.append(out)
        return (pulled[0] - pulled[1])[:-CLASSES] / 2e-3

    plain = Scaled(anchor.mean, anchor.scale)
    for k in range(CLASSES):
        before, after = (np.linalg.norm(slope_change(c, k)) for c in (plain, coordinates))
        assert after < 0.6 * before
