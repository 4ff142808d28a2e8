"""Wide posteriors against exact sampling, where a diagonal scale and long steps go wrong first."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC, datasets
from bayesmargin.anchor.wide import SOFT, STIFF, fit_wide_anchor
from bayesmargin.beliefs import GaussianBelief
from bayesmargin.diagnostics import rhat_and_bulk_ess
from bayesmargin.problem import Problem
from bayesmargin.rows.blocks import as_dense
from bayesmargin.rows.sparse import SparseSource
from bayesmargin.samplers import SSGNHT, AugmentationGibbs


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
@pytest.mark.parametrize("sampler", [SSGNHT(integrator="baoab"), SSGNHT()], ids=["baoab", "ssi"])
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
    careful = SSGNHT(integrator="baoab", step=0.12, batch_size=len(y), thin=7, burn_in=250)
    reference = BayesianLinearSVC(C=3.0, sampler=careful, random_state=0).fit(X, y)
    mean, deviation, _ = intercepts(reference)
    other, width, _ = intercepts(BayesianLinearSVC(C=3.0, random_state=1).fit(X, y))
    assert abs(other - mean) / deviation < 0.3
    assert width / deviation == pytest.approx(1.0, abs=0.12)
