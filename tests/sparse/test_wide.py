"""Wide problems: the scaled thermostat against the exact reduction to the span of the rows."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation.wide import fit_wide_anchor
from bayesmargin.approximation.wide_order import by_class, interleaved
from bayesmargin.approximation.wide_targets import wide_states, wide_target
from bayesmargin.dynamics.base import State
from bayesmargin.dynamics.injection import Alike
from bayesmargin.dynamics.thermostat import CentredThermostat
from bayesmargin.foundation import storage
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource, SparseSource
from bayesmargin.samplers import SSGLD, SSGNHT
from bayesmargin.samplers.sharing import CommonPart
from bayesmargin.targets.coordinates import Scaled, Sheared, Spiked, positions_from, weights_from
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.row_space import row_space


def text_like(n_rows=300, n_columns=900, entries=25, seed=0):
    """Unit rows whose columns follow a power law, with labels from a noisy linear rule."""
    rng = np.random.default_rng(seed)
    columns = (n_columns * rng.random(n_rows * entries) ** 2).astype(int)
    bounds = np.arange(0, n_rows * entries + 1, entries)
    values = rng.random(n_rows * entries) + 0.5
    matrix = sparse.csr_array((values, columns, bounds), shape=(n_rows, n_columns))
    matrix.sum_duplicates()
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    matrix.data /= np.repeat(lengths, np.diff(matrix.indptr))
    score = matrix @ rng.standard_normal(n_columns)
    return matrix, (score + 0.3 * rng.standard_normal(n_rows) > 0).astype(int)


def problem_of(matrix, label, n_classes=2, cost=1.0, dense=False, intercept=True):
    values = matrix.toarray() if dense else matrix
    source = (DenseSource if dense else SparseSource)(values, intercept)
    size = source.n_columns * (1 if n_classes == 2 else n_classes)
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    return Problem(source, label, n_classes, np.full(len(label), cost), 1.0, prior)


def test_sparse_and_dense_rows_give_one_anchor():
    matrix, label = text_like()
    sparse_anchor = fit_wide_anchor(problem_of(matrix, label), np.random.default_rng(0))
    dense_anchor = fit_wide_anchor(problem_of(matrix, label, dense=True), np.random.default_rng(0))
    np.testing.assert_allclose(sparse_anchor.mean, dense_anchor.mean, atol=1e-6)
    np.testing.assert_allclose(sparse_anchor.scale, dense_anchor.scale, rtol=1e-6)


def test_odd_directions_are_orthonormal_and_undone_by_the_coordinates():
    matrix, label = text_like()
    problem = problem_of(matrix, label, cost=5.0)
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    assert len(anchor.eigenvalues) > 0
    unit = anchor.directions @ anchor.directions.T
    np.testing.assert_allclose(unit, np.eye(len(unit)), atol=1e-6)
    states = wide_states(problem, anchor)
    prepared = wide_target(problem, anchor, states, None, 0.2, np.random.default_rng(1))
    coordinates = prepared.coordinates
    assert isinstance(coordinates, Spiked)
    positions = np.random.default_rng(2).standard_normal((3, problem.n_weights))
    there = weights_from(coordinates, positions)
    np.testing.assert_allclose(positions_from(coordinates, there), positions, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_without_entries_does_no_harm(n_classes):
    matrix, label = text_like(n_columns=1000)
    matrix.data[: matrix.indptr[1]] = 0.0
    matrix.eliminate_zeros()
    problem = problem_of(matrix, label, n_classes, intercept=False)
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    states = wide_states(problem, anchor)
    assert states.distance[0] > 1e100 or n_classes > 2  # where the other classes tie for ever
    assert states.reach[0] < 1e-100
    assert np.all(np.isfinite(anchor.mean))
    assert 0.0 < states.roughness < 10.0


def test_interleaving_is_undone():
    weights = np.arange(12.0)
    np.testing.assert_array_equal(interleaved(weights, 3)[:3], [0.0, 4.0, 8.0])
    np.testing.assert_array_equal(by_class(interleaved(weights, 3), 3), weights)


def test_the_span_of_the_rows_keeps_the_prior_elsewhere():
    matrix, label = text_like(n_rows=40)
    space = row_space(problem_of(matrix, label))
    assert space is not None
    size = space.problem.n_weights
    assert size <= 40
    draws = np.random.default_rng(0).standard_normal((1, 4000, size))
    weights, (mean, variance) = space.lift(draws, np.random.default_rng(1))
    # Standard normal inside and outside the span is standard normal everywhere.
    assert np.sqrt(np.mean(mean**2)) == pytest.approx(4000**-0.5, rel=0.1)
    assert variance.mean() == pytest.approx(1.0, abs=0.01)
    scores = weights[0] @ np.column_stack([matrix.toarray(), np.ones(40)]).T
    rows = space.problem.source.take(np.arange(40))
    np.testing.assert_allclose(scores, draws[0] @ rows.T, atol=1e-4)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("large", [1.0, 1e8])
def test_the_span_of_the_rows_loses_nothing_beside_a_column_in_the_millions(large, dense):
    matrix, label = text_like(n_rows=40)
    scale = np.where(np.arange(900) == 7, large, 1.0)
    space = row_space(problem_of((matrix * scale).tocsr(), label, dense=dense))
    rows = np.column_stack([matrix.toarray() * scale, np.ones(40)])
    inside = space.problem.source.take(np.arange(40))
    np.testing.assert_allclose(inside @ space.basis.T, rows, atol=1e-15 * 40 * large)
    unit = space.basis.T @ space.basis
    np.testing.assert_allclose(unit, np.eye(len(unit)), atol=1e-6)


@pytest.mark.parametrize("dense", [False, True])
def test_equal_rows_of_several_classes_and_empty_rows_do_not_widen_the_span(dense):
    matrix, label = text_like(n_rows=40)
    matrix = sparse.vstack([matrix, matrix[:5], sparse.csr_array((2, 900))], format="csr")
    label = np.concatenate([label, 1 - label[:5], [0, 1]])
    space = row_space(problem_of(matrix, label, dense=dense, intercept=False))
    assert space.problem.n_weights == 40
    inside = space.problem.source.take(np.arange(47))
    np.testing.assert_allclose(inside @ inside.T, (matrix @ matrix.T).toarray(), atol=1e-12)
    weights, _ = space.lift(np.ones((1, 3, 40)), np.random.default_rng(0))
    np.testing.assert_allclose(weights[0] @ matrix.T, np.ones((3, 40)) @ inside.T, atol=1e-5)


def test_the_span_of_sparse_rows_is_never_written_out():
    matrix, label = text_like(n_rows=200, n_columns=50_000)
    matrix = sparse.vstack([matrix, matrix[:1]], format="csr")
    label = np.append(label, 1 - label[0])
    tracemalloc.start()
    space = row_space(problem_of(matrix, label))
    space.lift(np.ones((1, 4, space.problem.n_weights)), np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * 200 * 50_000 * 8  # of the basis


def test_rows_that_say_nothing_leave_the_prior():
    model = BayesianLinearSVC(fit_intercept=False, n_chains=2, n_draws=200, random_state=0)
    model.fit(np.zeros((10, 900)), np.arange(10) % 2)
    assert model.posterior_["coef"].var() == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
def test_the_scaled_thermostat_agrees_with_the_exact_reduction():
    matrix, label = text_like(n_rows=400, n_columns=1200)
    exact = BayesianLinearSVC(random_state=0).fit(matrix, label)
    scaled = BayesianLinearSVC(sampler=SSGNHT(), random_state=1).fit(matrix, label)
    a, b = exact.posterior_.flat("coef"), scaled.posterior_.flat("coef")
    error = (b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)
    assert np.sqrt(np.mean(error**2)) < 0.06
    assert np.mean(b.var(axis=0) / a.var(axis=0)) == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
def test_draws_on_disk_serve_like_draws_in_memory(monkeypatch, tmp_path):
    matrix, label = text_like(n_rows=200)
    settings = {"sampler": SSGNHT(step=0.3, burn_in=100, thin=12), "n_draws": 200, "n_chains": 2}
    memory = BayesianLinearSVC(random_state=3, **settings).fit(matrix, label)
    monkeypatch.setenv("BAYESMARGIN_DRAWS", str(tmp_path))
    monkeypatch.setattr(storage, "MEMORY_LIMIT", 1000)
    disk = BayesianLinearSVC(random_state=3, **settings).fit(matrix, label)
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_array_equal(memory.posterior_["coef"], disk.posterior_["coef"])
    np.testing.assert_array_equal(memory.predict_votes(matrix), disk.predict_votes(matrix))
    monkeypatch.setattr(storage, "DISK_LIMIT", 20 * 2 * 901 * 4)
    thinned = BayesianLinearSVC(random_state=3, **settings).fit(matrix, label)
    assert thinned.posterior_["coef"].shape == (2, 20, 900)
    np.testing.assert_allclose(thinned.coef_, memory.coef_, atol=1e-12)
    del disk, thinned
    assert list(tmp_path.iterdir()) == []


def test_moments_are_those_of_all_vectors():
    vectors = np.random.default_rng(0).standard_normal((50, 3)) + 1e6
    first, second = storage.Moments(3), storage.Moments(3)
    for k, vector in enumerate(vectors):
        (first if k < 20 else second).add(vector)
    first.merge(second)
    np.testing.assert_allclose(first.mean, vectors.mean(axis=0))
    np.testing.assert_allclose(first.variance(), vectors.var(axis=0, ddof=1), rtol=1e-6)


def three_classes(rng, sheared):
    """Some coordinates of three classes and four features, the last one the intercept."""
    centre, scale = rng.standard_normal(12), rng.uniform(0.1, 1.0, 12)
    if sheared:
        return Sheared(centre, scale, np.array([0, 2]), np.array([0.7, 0.2]), 3)
    return Scaled(centre, scale)


def state_at(position, momentum):
    return State(position, momentum, np.zeros(12), np.zeros(12), np.zeros(2, np.int64))


@pytest.mark.parametrize("sheared", [False, True])
def test_redrawing_the_common_part_changes_no_difference_and_keeps_the_prior(sheared):
    rng = np.random.default_rng(0)
    coordinates = three_classes(rng, sheared)
    prior = GaussianBelief(np.full(12, 0.5), np.tile([4.0, 1.0, 0.25, 1.0], 3))
    common = CommonPart(coordinates, prior, 3)
    before = rng.standard_normal(12)
    means = []
    for _ in range(4000):
        position = before.copy()
        common.redraw(CentredThermostat(0.6, Alike(1.0)), state_at(position, np.zeros(12)), rng)
        weights = weights_from(coordinates, position).reshape(4, 3)
        means.append(weights.mean(axis=1))
    first = weights_from(coordinates, before).reshape(4, 3)
    np.testing.assert_allclose(np.diff(weights, axis=1), np.diff(first, axis=1), atol=1e-12)
    expected = 1.0 / np.sqrt(3 * np.array([4.0, 1.0, 0.25, 1.0]))
    np.testing.assert_allclose(np.std(means, axis=0), expected, rtol=0.06)
    assert np.all(np.abs(np.mean(means, axis=0) - 0.5) < 5 * expected / np.sqrt(4000))


@pytest.mark.parametrize("sheared", [False, True])
def test_redrawing_the_common_part_keeps_half_a_kick_that_is_due(sheared):
    """Momentum less half a kick of the prior's gradient is the same before and after."""
    rng = np.random.default_rng(1)
    coordinates = three_classes(rng, sheared)
    precision = np.tile([4.0, 1.0, 0.25, 1.0], 3)
    common = CommonPart(coordinates, GaussianBelief(np.zeros(12), precision), 3)
    position, momentum, half = rng.standard_normal(12), rng.standard_normal(12), 0.3
    slopes = weights_from(coordinates, np.eye(12)) - weights_from(coordinates, np.zeros(12))

    def rest():
        force = interleaved(precision, 3) * weights_from(coordinates, position)
        return momentum - half * slopes @ force

    before = rest()
    common.redraw(CentredThermostat(2.0 * half, Alike(1.0)), state_at(position, momentum), rng)
    np.testing.assert_allclose(rest(), before, atol=1e-12)


def test_gradient_noise_heats_by_as_much_as_the_learned_scale_lets_through():
    """The noise was taken as if AdaGrad had the scale one, which it has for no weight."""
    sampler = SSGLD(step=0.01, preconditioner="adagrad", control_variates=False)
    ensemble = sampler.start(problem_of(*text_like()), spawn_generators(0, 3))
    for chain, moment in zip(ensemble.chains, (4.0, 9.0), strict=True):
        chain.state.moment[:] = moment
    mean_scale = 0.5 * (1.0 / 2.0 + 1.0 / 3.0)
    found = ensemble.account.temperature(100.0, np.empty((2, 0, 4)))
    assert found - 1.0 == pytest.approx(0.25 * 0.01**2 * 100.0 * mean_scale, rel=1e-4)


@pytest.mark.parametrize("multi_class", ["two classes", "ovr"])
def test_a_prior_so_narrow_that_no_kink_is_in_reach(multi_class):
    matrix, label = text_like(n_rows=700)
    if multi_class == "ovr":
        label = label + np.arange(700) % 2
    classes = {"multi_class": "ovr"} if multi_class == "ovr" else {}
    model = BayesianLinearSVC(prior_scale=0.01, n_draws=100, n_chains=2, random_state=0, **classes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(matrix, label)
    # Every hinge is active, so the posterior is Gaussian: the prior, moved.
    sign = np.where(label[:, None] == model.classes_[-len(model.coef_) :], 1.0, -1.0)
    np.testing.assert_allclose(model.coef_, 0.01**2 * (matrix.T @ sign).T, atol=0.004)
    sd = model.posterior_["coef"].std(axis=(0, 1))
    np.testing.assert_allclose(sd.mean(), 0.01, rtol=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e5, 1e6])
def test_a_large_column_beside_words_has_the_anchor_of_any_other(n_classes, size):
    """The search for the mean ended far from all kinks, and steps became a millionth."""
    matrix, label = text_like(n_rows=700)
    label = label + (np.arange(700) % 2 if n_classes == 3 else 0)
    column = np.random.default_rng(1).standard_normal((700, 1))
    found = []
    for unit in (1.0, size):  # nearly the same posterior: data say more than the prior
        rows = sparse.csr_array(sparse.hstack([matrix, unit * column]))
        problem = problem_of(rows, label, n_classes)
        anchor = fit_wide_anchor(problem, np.random.default_rng(0))
        scale = by_class(anchor.scale, problem.n_blocks).reshape(problem.n_blocks, -1)
        mean = by_class(anchor.mean, problem.n_blocks).reshape(problem.n_blocks, -1) / scale
        apart = mean[:, 900] - (mean[:, 900].mean() if n_classes > 2 else 0.0)
        found.append((wide_states(problem, anchor).roughness, scale[:, 900] * unit, apart))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.1, atol=0.1)
