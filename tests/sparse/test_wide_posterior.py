"""Wide posteriors against exact sampling, where a diagonal scale and long steps go wrong first."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC, datasets
from bayesmargin.approximation.stiffness import stiffest
from bayesmargin.approximation.wide import SOFT, STIFF, Passes, fit_wide_anchor
from bayesmargin.approximation.wide_targets import wide_coordinates
from bayesmargin.diagnostics.convergence import rhat_and_bulk_ess
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.blocks import as_dense
from bayesmargin.rows.sparse import SparseSource
from bayesmargin.samplers import SSGNHT, AugmentationGibbs
from bayesmargin.targets.coordinates import weights_from
from bayesmargin.targets.problem import Problem


def documents(n_rows, n_features, seed):
    """Rows of unit length with positive entries, some words frequent; one label in six is 1."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, n_features + 1) ** 0.8
    counts = rng.poisson(40.0 * popularity / popularity.sum(), (n_rows, n_features))
    values = np.log1p(counts) * rng.uniform(0.5, 1.5, n_features)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    score = values @ rng.standard_normal(n_features)
    return sparse.csr_matrix(values), (score > np.quantile(score, 5 / 6)).astype(int)


def intercepts(model):
    """Mean and deviation of the intercept's draws, and its effective draws."""
    draws = np.asarray(model.posterior_["intercept"], dtype=float)
    draws = draws.reshape(draws.shape[0], -1, 1)
    return draws.mean(), draws.std(), rhat_and_bulk_ess(draws)[1][0]


def test_both_ends_of_the_spectrum_are_undone():
    X, y = documents(400, 900, 0)
    size = X.shape[1] + 1
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    problem = Problem(SparseSource(X, True), y, 2, np.full(400, 3.0), 1.0, prior)
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    assert anchor.eigenvalues.max() > STIFF
    assert anchor.eigenvalues.min() < 0.5 * SOFT
    softest = anchor.directions[np.argmin(anchor.eigenvalues)]
    assert abs(softest[-1]) > 0.5  # the intercept, against the words
    design = problem.source.take(np.arange(400))
    rows = as_dense(design, size)
    slack = problem.margin - problem.sign * (rows @ anchor.mean)
    ratio = slack / anchor.deviation
    weight = 3.0 * np.exp(-0.5 * ratio**2) / np.sqrt(2.0 * np.pi) / anchor.deviation
    hessian = np.eye(size) + (rows.T * weight) @ rows
    scaled = anchor.scale[:, None] * hessian * anchor.scale
    before = np.linalg.eigvalsh(scaled)
    gain = 1.0 / np.sqrt(anchor.eigenvalues) - 1.0
    undo = np.eye(size) + (anchor.directions.T * gain) @ anchor.directions
    after = np.linalg.eigvalsh(undo @ scaled @ undo)
    assert after.max() / after.min() < 0.5 * before.max() / before.min()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("separate", [False, True])
def test_the_stiffest_direction_is_that_of_the_hessian(intercept, separate):
    X, _ = documents(60, 90, 5)
    y, size = np.arange(60) % 3, 3 * (90 + intercept)
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    problem = Problem(SparseSource(X, intercept), y, 3, np.full(60, 2.0), 1.0, prior, separate)
    anchor = fit_wide_anchor(problem, np.random.default_rng(0))
    coordinates = wide_coordinates(anchor)

    def gradient(weights):
        return Passes(problem).energy(weights, anchor.scale, anchor.deviation)[1]

    slopes = weights_from(coordinates, np.eye(size)) - anchor.mean
    hessian = [
        slopes @ (gradient(anchor.mean + 1e-3 * row) - gradient(anchor.mean - 1e-3 * row)) / 2e-3
        for row in slopes
    ]
    found = stiffest(problem, anchor, coordinates, np.random.default_rng(1))
    assert found == pytest.approx(np.linalg.eigvalsh(hessian).max(), rel=0.1)


def test_sparse_blocks_become_matrices():
    X, _ = documents(30, 900, 1)
    for intercept in (False, True):
        source = SparseSource(X, intercept)
        block = as_dense(source.take(np.array([4, 2])), source.n_columns)
        assert np.array_equal(block[:, :900], X[[4, 2]].toarray())
        assert np.all(block[:, 900:] == 1.0)
        assert block.shape[1] == 900 + intercept


def test_exact_gibbs_says_what_it_cannot_hold():
    diagonal = np.arange(30_000)
    X = sparse.csr_matrix((np.ones(30_000), (diagonal, diagonal)), shape=(30_000, 40_000))
    y = diagonal % 2
    with pytest.raises(ValueError, match=r"30000 rows of 40001 columns take 9\.6 GB"):
        BayesianLinearSVC(sampler="gibbs").fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler", [SSGNHT(integrator="badodab"), SSGNHT()], ids=["badodab", "ssi"]
)
def test_the_intercept_of_rare_labels_agrees_with_exact_sampling(sampler):
    X, y = documents(400, 900, 0)
    exact = BayesianLinearSVC(C=3.0, sampler=AugmentationGibbs(), n_draws=400, random_state=0)
    mean, deviation, ess = intercepts(exact.fit(X, y))
    model = BayesianLinearSVC(C=3.0, sampler=sampler, random_state=0).fit(X, y)
    other, width, more = intercepts(model)
    error = np.sqrt(1.0 / ess + 1.0 / more)
    assert abs(other - mean) / deviation < 0.05 + 3.0 * error
    assert abs(width / deviation - 1.0) < 0.03 + 3.0 * error


@pytest.mark.slow
def test_coarse_kinks_do_not_move_the_intercept_of_real_documents():
    try:
        X, y = datasets.fetch_reuters_moneyfx(return_X_y=True, download_if_missing=False)
    except OSError as error:
        pytest.skip(str(error))
    careful = SSGNHT(integrator="badodab", step=0.12, batch_size=len(y), thin=7, burn_in=250)
    reference = BayesianLinearSVC(C=3.0, sampler=careful, random_state=0).fit(X, y)
    mean, deviation, _ = intercepts(reference)
    other, width, _ = intercepts(BayesianLinearSVC(C=3.0, random_state=1).fit(X, y))
    assert abs(other - mean) / deviation < 0.3
    assert width / deviation == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize("cost", [1.0, pytest.param(5.0, marks=pytest.mark.slow)])
def test_scores_of_several_classes_agree_with_exact_sampling(cost):
    """Without intercepts the mean row is stiff (C=1), and single rows make corners (C=5).

    The exact sampler has the same rows, turned into the space that they span.
    """
    X, _ = documents(220, 810, 3)
    rng = np.random.default_rng(4)
    y = np.argmax(X @ rng.standard_normal((810, 3)) + 0.1 * rng.standard_normal((220, 3)), axis=1)
    left, values, _ = np.linalg.svd(X.toarray(), full_matrices=False)
    turned = left * values
    settings = {"C": cost, "multi_class": "crammer_singer", "fit_intercept": False}
    exact = BayesianLinearSVC(sampler=AugmentationGibbs(), n_draws=300, random_state=0, **settings)
    model = BayesianLinearSVC(random_state=1, **settings)
    mean, width = differing_scores(exact.fit(turned, y), turned)
    other, wider = differing_scores(model.fit(X, y), X.toarray())
    assert model.diagnostics_.trustworthy
    assert np.sqrt(np.mean(((other - mean) / width) ** 2)) < 0.1
    assert np.mean((wider / width) ** 2) == pytest.approx(1.0, abs=0.05)


def differing_scores(model, rows):
    """Mean and deviation over draws of the rows' scores, less their mean over the classes."""
    weights = np.asarray(model.posterior_["coef"], dtype=float).reshape(-1, *model.coef_.shape)
    scores = np.einsum("skj,dj->skd", weights - weights.mean(axis=1, keepdims=True), rows)
    return scores.mean(axis=0), scores.std(axis=0)
