"""Thresholds of label sets: rare classes get one of their own."""

import numpy as np

from bayesmargin.models.medlda.link import choose, f1_sum, fit_link


def rare_and_common(seed, n=400):
    """Two common classes and a rare one whose scores all lie below theirs."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.6, 0.5, 0.05])
    relevant = rng.random((n, 3)) < shares
    relevant[~relevant.any(axis=1), 0] = True
    scores = np.array([0.0, 0.0, -8.0]) + 4.0 * relevant + rng.normal(0.0, 0.5, (n, 3))
    return scores, np.where(relevant, 1, -1), shares


def test_rare_class_is_found_by_a_threshold_of_its_own():
    scores, signs, shares = rare_and_common(1)
    link = fit_link(scores, signs, shares, several=True, margin=1.0)
    new, truth, _ = rare_and_common(2)
    relevant = (truth > 0).astype(int)
    with_own = f1_sum(choose(new, link.cut), relevant)
    with_one = f1_sum(choose(new, link.threshold), relevant)
    assert link.cut[2] < -4.0
    assert with_own > 1.9
    assert with_one < 1.7
    chances = link.probabilities(new, several=True)
    assert ((chances > 0.5) == (new > link.cut)).all()


def test_every_document_has_a_label():
    chosen = choose(np.array([[-1.0, -2.0], [3.0, 4.0]]), np.array([5.0, 3.5]))
    np.testing.assert_array_equal(chosen, [[0, 1], [0, 1]])
