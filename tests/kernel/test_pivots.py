"""Landmarks drawn in blocks: the law of one at a time, and what they leave out."""

import numpy as np

from bayesmargin.models.kernel.kernels import RBF
from bayesmargin.models.kernel.pivots import pivots


def one_at_a_time(gram, count, rng):
    rest, chosen = gram.copy(), []
    for _ in range(count):
        own = np.maximum(np.diag(rest), 0.0)
        k = rng.choice(len(own), p=own / own.sum())
        chosen.append(k)
        rest = rest - np.outer(rest[:, k], rest[:, k]) / rest[k, k]
    return chosen


def test_blocks_draw_what_one_at_a_time_draws():
    """The chance of every first, second and third landmark of six rows, two of them close."""
    rows = np.array([[0.0], [0.1], [0.8], [1.5], [1.7], [4.0]])
    rng, count = np.random.default_rng(0), 6000
    gram = RBF().between(rows, rows, 1.0)
    ours, theirs = np.zeros((3, 6)), np.zeros((3, 6))
    for _ in range(count):
        own = np.ones(6)
        found = pivots(RBF(), 1.0, rows, np.arange(6), own, 3, rng)
        ours[np.arange(3), found] += 1.0
        theirs[np.arange(3), one_at_a_time(gram, 3, rng)] += 1.0
    error = np.sqrt((ours + theirs + 1.0) / count**2)
    assert np.abs((ours - theirs) / count / error).max() < 4.0


def test_landmarks_are_distinct_and_explain_as_much_as_one_at_a_time():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 2))
    gram = RBF().between(rows, rows, 0.5)

    def left(chosen):
        near = gram[:, chosen]
        return 1.0 - np.trace(near @ np.linalg.pinv(gram[np.ix_(chosen, chosen)]) @ near.T) / 400

    found = [pivots(RBF(), 0.5, rows, np.arange(400), np.ones(400), 25, rng) for _ in range(20)]
    assert all(len(np.unique(one)) == 25 for one in found)
    ours = [left(one) for one in found]
    theirs = [left(one_at_a_time(gram, 25, rng)) for _ in range(20)]
    error = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(20)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4.0 * error


def test_no_more_landmarks_than_directions():
    rows = np.repeat(np.arange(5.0)[:, None], 8, axis=0)
    found = pivots(RBF(), 1.0, rows, np.arange(40), np.ones(40), 20, np.random.default_rng(0))
    assert sorted(rows[found, 0]) == [0.0, 1.0, 2.0, 3.0, 4.0]
