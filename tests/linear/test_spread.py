"""Variances of scores over draws, by roots of their covariance or draw by draw."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin.models.linear.spread import contrast_variance, score_variance

SHAPES = [
    (60, 1, 5),  # a root for the one block
    (60, 3, 5),  # roots of single blocks and of all together
    (60, 3, 40),  # of single blocks only
    (60, 2, 200),  # none: fewer draws than weights
    (20, 3, 900),  # none: wide
]


def _draws(count, blocks, n_features):
    rng = np.random.default_rng(0)
    coef = rng.standard_normal((count, blocks, n_features)) + 5.0
    coef += rng.standard_normal((count, 1, 1))  # shared by the blocks
    return coef, coef[..., 0] + rng.standard_normal((count, blocks))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_variances_are_those_of_the_scores_of_all_draws(shape, kind):
    coef, intercept = _draws(*shape)
    X = np.random.default_rng(1).standard_normal((7, shape[2]))
    scores = np.einsum("dkn,in->dik", coef, X) + intercept[:, None, :]
    found = score_variance(kind(X), coef, intercept)
    np.testing.assert_allclose(found, scores.var(axis=0, ddof=1))
    reference = np.arange(7) % shape[1]
    away = scores - np.take_along_axis(scores, reference[None, :, None], axis=2)
    found = contrast_variance(kind(X), coef, intercept, reference)
    np.testing.assert_allclose(found, away.var(axis=0, ddof=1), atol=1e-12)


def test_one_draw_is_known_exactly():
    coef, intercept = _draws(1, 2, 3)
    X = np.ones((4, 3))
    np.testing.assert_array_equal(score_variance(X, coef, intercept), 0.0)
    np.testing.assert_array_equal(contrast_variance(X, coef, intercept, np.zeros(4, int)), 0.0)


def test_many_rows_are_the_same_in_parts(monkeypatch):
    coef, intercept = _draws(30, 3, 4)
    X = np.random.default_rng(2).standard_normal((50, 4))
    reference = np.arange(50) % 3
    whole = score_variance(X, coef, intercept), contrast_variance(X, coef, intercept, reference)
    monkeypatch.setattr("bayesmargin.models.linear.spread.rows_at_a_time", lambda size, wide: 7)
    parts = score_variance(X, coef, intercept), contrast_variance(X, coef, intercept, reference)
    np.testing.assert_allclose(parts, whole)
