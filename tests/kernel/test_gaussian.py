"""Gaussians of many small fits: the same as anywhere, and rows left out of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_ndtr
from sklearn.datasets import make_moons

from bayesmargin import BayesianSVC
from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.binary import expected_hinges, with_prior
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.models.kernel.gaussian import GaussianDiagnostics, gaussian_run
from bayesmargin.models.kernel.kernels import RBF
from bayesmargin.models.kernel.landmarks import fit_map
from bayesmargin.models.kernel.training import FeatureSettings
from bayesmargin.models.linear.fitting import LinearData, make_problem
from bayesmargin.models.linear.gaussian import folds_of, gaussian_fits, matched_fits
from bayesmargin.priors.moments import prior_belief


def moons(n_rows, n_features):
    X, y = make_moons(n_rows, noise=0.3, random_state=0)
    found = fit_map(RBF(), 1.0, X, np.arange(n_rows), n_features, np.random.default_rng(0))
    return LinearData(found.features(X)[0], y, np.ones(n_rows), 2)


def test_energies_are_those_of_the_anchor_of_two_classes():
    data = moons(80, 6)
    problem = make_problem(data, prior_belief("gaussian", 2.0, 7), 3.0, 1.5, True)
    fits = gaussian_fits(data, 3.0, 1.5, 2.0)
    (part,) = fits.parts
    rng = np.random.default_rng(0)
    anchor = GaussianAnchor(0.3 * rng.standard_normal(7), np.tril(rng.normal(size=(7, 7))).T)
    wanted = with_prior(problem.prior, anchor, expected_hinges(problem, anchor))
    for ours, theirs in zip(part.energy(anchor), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    theirs = fit_anchor(problem, rng)
    far = (fits.anchors[0].mean - theirs.mean) / np.sqrt(theirs.variances())
    assert np.abs(far).max() < 0.05
    draws = rng.standard_normal((20_000, 7))
    slope = part.gradients(fits.anchors[0], draws)
    assert np.abs(slope.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(draws.T @ slope / len(draws), np.eye(7), atol=0.06)


@pytest.mark.parametrize("cost", [1.0, 5.0])
def test_rows_left_out_are_as_refits_without_them_say(cost):
    data = moons(60, 60)
    fits = gaussian_fits(data, cost, 1.0, 1.0)
    mean, variance = fits.parts[0].scores(fits.anchors[0])
    told, width = fits.left_out()
    refit_mean, refit_variance = fits.held_out(np.arange(60))
    sign = 2.0 * data.label - 1.0
    moved, wanted = sign * (told - mean), sign * (refit_mean - mean)
    assert np.sqrt(np.mean((moved - wanted) ** 2)) < 0.35 * np.sqrt(np.mean(wanted**2))
    assert abs(moved.mean() / wanted.mean() - 1.0) < 0.25
    ratio = width / refit_variance
    assert 0.75 < np.median(ratio) < 1.25
    assert (width > 0.95 * variance).all()
    told, width = matched_fits(data, cost, 1.0, 1.0).left_out()
    assert abs(np.mean(sign * (told - refit_mean)) / wanted.mean()) < 0.25
    assert 0.75 < np.median(width / refit_variance) < 1.4


def test_a_neighbour_as_a_start_leads_to_the_same_gaussian():
    data = moons(100, 20)
    fresh = gaussian_fits(data, 3.0, 1.0, 1.0)
    begun = gaussian_fits(data, 3.0, 1.0, 1.0, start=gaussian_fits(data, 1.0, 1.0, 1.0))
    far = (begun.anchors[0].mean - fresh.anchors[0].mean) / np.sqrt(fresh.anchors[0].variances())
    assert np.sqrt(np.mean(far**2)) < 0.05
    np.testing.assert_allclose(begun.left_out()[1], fresh.left_out()[1], rtol=0.1)


def test_two_rows_have_the_moments_that_integrals_give():
    rows = np.array([[1.0, 0.5], [0.8, -1.0]])
    data = LinearData(rows, np.array([1, 0]), np.array([1.0, 2.0]), 2)
    fits = gaussian_fits(data, 2.0, 1.0, 1.5, intercept=False)
    (found,) = matched_fits(data, 2.0, 1.0, 1.5, intercept=False).matches
    grid = np.linspace(-8.0, 8.0, 801)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    weights = np.stack([first.ravel(), second.ravel()])
    scores = rows @ weights
    slack = np.maximum(1.0 - np.array([[1.0], [-1.0]]) * scores, 0.0)
    energy = np.square(weights).sum(axis=0) / (2.0 * 1.5**2) + np.array([2.0, 4.0]) @ slack
    density = np.exp(energy.min() - energy)
    density /= density.sum()
    mean = weights @ density
    covariance = (weights - mean[:, None]) * density @ (weights - mean[:, None]).T
    np.testing.assert_allclose(found.anchor.mean, mean, atol=0.03)
    factor = found.anchor.factor
    np.testing.assert_allclose(factor @ factor.T, covariance, atol=0.05)
    bends = (slack > 0.0) @ density
    np.testing.assert_allclose(found.active(), bends, atol=0.05)
    narrow = np.diag(fits.anchors[0].factor @ fits.anchors[0].factor.T)
    assert (narrow < np.diag(covariance)).all()  # what moments mend
    noisy = replace(data, unseen=np.full(2, 50.0))  # rows whose scores are noise teach little
    told = matched_fits(noisy, 2.0, 1.0, 1.5, intercept=False).anchors[0].factor
    assert np.trace(told @ told.T) > 1.5 * np.trace(covariance)


def test_sites_that_change_all_at_a_time_have_come_to_rest():
    data = moons(300, 300)  # ten rows and more for each direction that they tell of
    found = matched_fits(data, 2.0, 1.0, 1.0)
    wanted = matched_fits(data, 2.0, 1.0, 1.0, close=1e-6)
    mean, variance = found.parts[0].scores(found.anchors[0])
    exact, width = wanted.parts[0].scores(wanted.anchors[0])
    assert abs(np.mean(variance / width) - 1.0) < 0.01
    assert np.sqrt(np.mean((mean - exact) ** 2 / width)) < 0.02


def test_parts_have_all_classes_evenly():
    label = np.repeat([0, 1, 2], [50, 30, 20])
    fold = folds_of(label, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(fold), 20)
    for k, count in enumerate((10, 6, 4)):
        np.testing.assert_array_equal(np.bincount(fold[label == k]), count)


def test_draws_of_the_gaussian_are_like_those_of_chains():
    X, y = make_moons(80, noise=0.3, random_state=0)
    settings = {"C": 2.0, "gamma": 1.0, "n_components": 12, "random_state": 0, "n_draws": 1000}
    quick = BayesianSVC(**settings).fit(X, y)
    assert isinstance(quick.diagnostics_, GaussianDiagnostics)
    assert quick.diagnostics_.trustworthy
    assert "independent draws" in str(quick.diagnostics_)
    assert quick.posterior_.attrs["drawn_by"] == "Anchor"
    chains = BayesianSVC(**settings, sampler="ssgnht").fit(X, y)
    assert chains.posterior_.attrs["drawn_by"] == "SSGNHT"
    features = chains.map_.features(X)[0]
    drawn = [
        one.posterior_.flat("coef") @ features.T + one.posterior_.flat("intercept")[:, None]
        for one in (quick, chains)
    ]
    shift = (drawn[0].mean(axis=0) - drawn[1].mean(axis=0)) / drawn[1].std(axis=0)
    assert np.sqrt(np.mean(shift**2)) < 0.15
    assert abs(np.mean(drawn[0].var(axis=0) / drawn[1].var(axis=0)) - 1.0) < 0.1
    chance = [one.predict_proba(X)[:, 1] for one in (quick, chains)]
    assert np.abs(chance[0] - chance[1]).max() < 0.05


def test_gradients_see_hinges_through_what_features_leave_out():
    data = replace(moons(200, 20), unseen=np.full(200, 0.05))
    (found,) = matched_fits(data, 30.0, 1.0, 1.0).matches
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((3, 21))
    weights = found.anchor.mean + draws @ found.anchor.factor.T
    part, step = found.part, 1e-4
    sd = np.sqrt(0.05)

    def energy(weight):
        slack = part.margin - part.sign * (part.rows @ weight)
        bent = 0.5 * (part.cost * sd) ** 2 - part.cost * slack
        bent += log_ndtr(slack / sd - part.cost * sd)
        seen = np.logaddexp(log_ndtr(-slack / sd), bent)
        return 0.5 * part.precision @ weight**2 - seen.sum()

    for row, weight in zip(found.gradients(draws), weights, strict=True):
        for k in (0, 5, 20):
            away = step * found.anchor.factor[:, k]
            slope = (energy(weight + away) - energy(weight - away)) / (2.0 * step)
            assert abs(row[k] - slope) < 1e-3 * max(1.0, abs(slope))
    clear = matched_fits(replace(data, unseen=None), 30.0, 1.0, 1.0).matches[0]
    wanted = clear.part.gradients(clear.anchor, draws)
    np.testing.assert_allclose(clear.gradients(draws), wanted, rtol=1e-9)


def test_large_costs_and_few_features_need_no_chains():
    X, y = make_moons(400, noise=0.2, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).standard_normal((400, 2))])
    settings = {"C": 50.0, "gamma": 0.5, "n_components": 40, "n_draws": 200, "random_state": 0}
    model = BayesianSVC(**settings).fit(X, y)
    assert isinstance(model.diagnostics_, GaussianDiagnostics)


def test_a_lopsided_posterior_is_left_to_chains():
    rng = np.random.default_rng(0)
    data = LinearData(rng.standard_normal((300, 1)), np.arange(300) == 0, np.ones(300), 2)
    settings = FeatureSettings(5.0, 1.0, "ovr", 50, 1)
    assert gaussian_run(data, 30.0, settings, rng.spawn(3)) is None
    assert gaussian_run(moons(100, 10), 1.0, settings, rng.spawn(3)) is not None
