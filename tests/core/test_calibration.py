"""Links from scores to probabilities."""

import numpy as np
import pytest
from scipy.special import expit

from bayesmargin.calibration import BinaryLink, MulticlassLink, fit_link, leave_one_out


def test_leave_one_out_undoes_a_row():
    """In one dimension the posterior without a row is known by quadrature."""
    x = np.array([1.0, -0.5, 2.0])
    sign = np.array([1.0, -1.0, -1.0])
    grid = np.linspace(-8, 8, 40_001)
    hinge = np.maximum(1.0 - sign[:, None] * x[:, None] * grid, 0.0)
    log_posterior = -0.5 * grid**2 - hinge.sum(axis=0)
    rng = np.random.default_rng(0)
    density = np.exp(log_posterior - log_posterior.max())
    draws = rng.choice(grid, 200_000, p=density / density.sum())
    scores = draws[:, None] * x
    found = leave_one_out(scores, np.maximum(1.0 - sign * scores, 0.0), np.ones(3))
    for d in range(3):
        without = np.exp(log_posterior + hinge[d])
        expected = x[d] * np.sum(grid * without) / without.sum()
        assert found[d] == pytest.approx(expected, abs=0.02)


def test_binary_link_recovers_its_slopes():
    rng = np.random.default_rng(1)
    scores = 2.0 * rng.standard_normal(60_000)
    truth = BinaryLink(1.0, np.array([0.4, 1.5, 2.5, 0.8]))
    label = (rng.random(60_000) < truth.probabilities(scores)[:, 1]).astype(int)
    found = fit_link(scores, label, np.ones(60_000), 1.0, 1.0)
    np.testing.assert_allclose(found.slopes, truth.slopes, rtol=0.15)


def test_links_never_change_the_predicted_class():
    rng = np.random.default_rng(2)
    scores = 3.0 * rng.standard_normal(5000)
    binary = BinaryLink(1.0, rng.uniform(0.1, 3.0, 4)).probabilities(scores)
    np.testing.assert_array_equal(binary.argmax(axis=1), scores > 0)
    assert np.all(np.diff(binary[np.argsort(scores), 1]) >= 0)
    many = 2.0 * rng.standard_normal((5000, 5))
    multi = MulticlassLink(1.0, rng.uniform(0.1, 3.0, 2)).probabilities(many)
    np.testing.assert_array_equal(multi.argmax(axis=1), many.argmax(axis=1))
    np.testing.assert_allclose(multi.sum(axis=1), 1.0)


def test_pseudo_likelihood_slopes_give_the_pseudo_likelihood():
    scores = np.linspace(-3, 3, 61)
    log_psi = [-np.maximum(1.0 - sign * scores, 0.0) for sign in (-1.0, 1.0)]
    expected = expit(log_psi[1] - log_psi[0])
    link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]))
    np.testing.assert_allclose(link.probabilities(scores)[:, 1], expected)


def test_few_rows_stay_near_the_pseudo_likelihood():
    link = fit_link(np.array([0.3, -0.2]), np.array([1, 0]), np.ones(2), 1.0, 1.0)
    np.testing.assert_allclose(link.slopes, [1.0, 2.0, 2.0, 1.0], rtol=0.5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_link_is_where_the_penalised_likelihood_is_largest(n_classes):
    rng = np.random.default_rng(5)
    label = rng.integers(n_classes, size=400)
    scores = rng.standard_normal((400, n_classes)) + 1.5 * np.eye(n_classes)[label]
    scores = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    weight = rng.uniform(0.5, 2.0, 400)
    found = fit_link(scores, label, weight, 1.0, 1.0)
    centre = np.log([1.0, 2.0, 2.0, 1.0] if n_classes == 2 else [1.0, 0.1])

    def penalised(log_slopes):
        probability = type(found)(1.0, np.exp(log_slopes)).probabilities(scores)
        fit = weight @ np.log(probability[np.arange(400), label])
        return fit - 0.5 * np.sum((log_slopes - centre) ** 2)

    best = np.log(found.slopes)
    for k in range(len(best)):
        for move in (-0.02, 0.02):
            assert penalised(best + move * np.eye(len(best))[k]) < penalised(best)
