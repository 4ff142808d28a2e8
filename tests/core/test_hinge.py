"""The pseudo-likelihoods and their conventions."""

import numpy as np
import pytest

from bayesmargin.likelihoods.hinge import (
    binary_log_psi,
    multiclass_log_psi,
    multiclass_slack,
    runner_up,
    winner,
)


def reference_hinge(scores, label, margin):
    others = np.delete(scores, label)
    return max(0.0, margin + others.max() - scores[label])


@pytest.mark.parametrize("seed", range(5))
def test_multiclass_hinge_is_the_largest_option_minus_the_label(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        n_classes = rng.integers(2, 7)
        scores, label = rng.standard_normal(n_classes), int(rng.integers(n_classes))
        margin, cost = rng.uniform(0.1, 3.0), rng.uniform(0.1, 3.0)
        expected = reference_hinge(scores, label, margin)
        assert multiclass_log_psi(cost, margin, scores, label) == pytest.approx(-cost * expected)
        options = scores + margin * (np.arange(n_classes) != label)
        assert options[winner(margin, scores, label)] == pytest.approx(options.max())
        assert options.max() - scores[label] == pytest.approx(expected)


def test_a_kink_counts_as_inactive():
    assert winner(1.0, np.array([1.0, 2.0]), 1) == 1
    assert binary_log_psi(1.0, 1.0, 1.0, 1.0) == 0.0


def test_ties_between_rivals_go_to_the_lowest_index():
    scores = np.array([3.0, 5.0, 5.0, 5.0])
    assert runner_up(scores, 1) == 2
    assert runner_up(scores, 3) == 1
    assert multiclass_slack(1.0, scores, 3) == 1.0


def test_binary_hinge_uses_the_cost_once():
    # psi = exp(-c (l - y f)_+), not the doubled convention exp(-2c ...).
    assert binary_log_psi(1.5, 2.0, -1.0, 0.5) == pytest.approx(-1.5 * 2.5)
