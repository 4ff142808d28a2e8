"""Columns that are nearly multiples of one another, under a prior too wide to tell them apart."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.augmentation.wide import draw_orthogonal
from bayesmargin.errors import DivergenceError
from bayesmargin.samplers import AugmentationGibbs

WIDE = 1e8


class Fixed:
    """A generator whose normal variates are given."""

    def __init__(self, values):
        self.values = values

    def standard_normal(self, size):
        assert size == len(self.values)
        return self.values


def test_rotated_rows_give_the_gaussian_of_their_gram_matrix():
    rng = np.random.default_rng(0)
    rows, omega, pull = rng.standard_normal((30, 4)), rng.wald(1.0, 1.0, 30), rng.random(30)
    root = rng.standard_normal((4, 4))
    prior, linear = root @ root.T + np.eye(4), rng.standard_normal(4)
    precision = prior + (rows.T * omega) @ rows

    def drawn(noise):
        return draw_orthogonal(rows, omega, pull, prior, linear, Fixed(noise))

    centre = drawn(np.zeros(4))
    np.testing.assert_allclose(precision @ centre, linear + rows.T @ pull, rtol=1e-10)
    factor = np.column_stack([drawn(unit) - centre for unit in np.eye(4)])
    np.testing.assert_allclose(factor @ factor.T, np.linalg.inv(precision), rtol=1e-10)


@pytest.fixture(scope="module")
def repeated():
    """Rows whose first column comes twice, with noisy labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = X[:, 0] + 0.5 * rng.standard_normal(120) > 0
    return np.column_stack([X, X[:, 0]]), y


@pytest.mark.parametrize("prior_scale", [1.0, WIDE])
def test_a_column_given_twice_leaves_the_difference_to_the_prior(repeated, prior_scale):
    model = BayesianLinearSVC(
        sampler="gibbs", prior_scale=prior_scale, n_chains=2, n_draws=1000, random_state=0
    ).fit(*repeated)
    assert model.posterior_.attrs["form"] == ("joint" if prior_scale == 1.0 else "orthogonal")
    coef = model.posterior_.flat("coef")
    apart, together = coef[:, 0] - coef[:, 3], coef[:, 0] + coef[:, 3]
    assert apart.std() == pytest.approx(np.sqrt(2.0) * prior_scale, rel=0.1)
    assert 1.0 < together.mean() < 4.0
    assert together.std() < 1.0


def test_a_precision_without_a_factor_is_told_in_words(repeated):
    sampler = AugmentationGibbs(arithmetic="single")
    with pytest.raises(DivergenceError, match=r"no factor .* choose a smaller prior_scale"):
        BayesianLinearSVC(sampler=sampler, prior_scale=WIDE, random_state=0).fit(*repeated)
