"""Thresholds of label sets: rare classes get one of their own."""

import numpy as np
import pytest

from bayesmargin.calibration.slopes import choose, f1_sum, fit_link, learn_brevity


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


def with_one_of_all_or_none(seed, sign, n=400):
    """The classes of above, and one whose label all documents have, or none of them."""
    scores, signs, shares = rare_and_common(seed, n)
    level = np.random.default_rng(seed).normal(8.0 * sign, 0.5, (n, 1))
    return (
        np.hstack([scores, level]),
        np.hstack([signs, np.full((n, 1), sign)]),
        np.append(shares, float(sign > 0)),
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_labels_of_all_documents_or_of_none_stay_so(sign):
    """Their thresholds had been the last score held out, beyond which there are always some.

    Where no label was above its threshold, that of nobody was often the nearest to it.
    """
    scores, signs, shares = with_one_of_all_or_none(1, sign)
    link = fit_link(scores, signs, shares, several=True, margin=1.0)
    new, truth, _ = with_one_of_all_or_none(2, sign, n=4000)
    chosen = choose(new, link.cut)
    assert (chosen[:, 3] == (sign > 0)).all()
    assert f1_sum(chosen[:, :3], (truth[:, :3] > 0).astype(int)) > 1.9
    wordless = scores.mean(axis=0)
    link = learn_brevity(link, scores, np.full(400, 9), signs, wordless, shares * 0.9 + 0.05, True)
    for length in (0, 1, 1000):
        settled = link.settle(new, np.full(4000, length))
        assert np.isfinite(settled).all()
        assert (choose(settled, link.cut)[:, 3] == (sign > 0)).all()


def test_a_label_held_out_with_every_document_of_its_own_can_be_chosen():
    """Of a stream all documents with a label may be held out; the shares know none of them."""
    scores, signs, shares = rare_and_common(1)
    link = fit_link(scores, signs, shares * [1.0, 1.0, 0.0], several=True, margin=1.0)
    assert np.isfinite(link.cut).all()
