"""The posterior of tiny factorizations by brute force: draws of the prior, weighted by psi."""

import numpy as np


def from_prior(rng, n_draws, n_users, n_items, n_factors, n_cuts, expected):
    """Rows of users, thresholds and items drawn from their priors, draws along the first axis."""
    cuts = expected.spacing * (np.arange(n_cuts) - 0.5 * (n_cuts - 1))

    def scales(size, scale):
        if not expected.learned:
            return np.full((n_draws, 1, size), scale)
        return scale / np.sqrt(
            rng.gamma(expected.strength, 1.0 / expected.strength, (n_draws, 1, size))
        )

    def normal(*shape):
        return rng.standard_normal((n_draws, *shape))

    centre = cuts[None, None]
    if expected.learned:
        centre = centre + expected.spread * expected.spacing * normal(1, n_cuts)
    user = normal(n_users, 1 + n_factors)
    user[:, :, :1] *= scales(1, expected.bias)
    threshold = centre + scales(n_cuts, expected.bias) * normal(n_users, n_cuts)
    item = normal(n_items, 1 + n_factors)
    item[:, :, :1] *= scales(1, expected.bias)
    item[:, :, 1:] *= scales(n_factors, expected.factor)
    return user, threshold, item


def scores(user, item, i, j):
    """Scores of a pair in every draw."""
    crossed = (user[:, i, 1:] * item[:, j, 1:]).sum(axis=1)
    return user[:, i, 0] + item[:, j, 0] + crossed


def log_psi(level, score, threshold, cost, margin):
    """Log of the factor of a rating; thresholds (draw, cut)."""
    side = np.where(level > np.arange(threshold.shape[1]), 1.0, -1.0)
    slack = margin - side * (score[:, None] - threshold)
    return -cost * np.maximum(0.0, slack).sum(axis=1)


def cells(user, threshold, item, pairs):
    """A number for each draw: the rating read off each pair's score, and whether factors matter."""
    number = np.zeros(len(user), dtype=int)
    for i, j in pairs:
        above = scores(user, item, i, j)[:, None] > threshold[:, i]
        number = number * (1 + threshold.shape[2]) + above.sum(axis=1)
    i, j = pairs[0]
    part = (user[:, i, 1:] * item[:, j, 1:]).sum(axis=1)
    return 3 * number + (part > 0.2) + 2 * (part < -0.2)


def shares(number, size, weight=None):
    """How often each cell occurs."""
    counts = np.bincount(number, weight, size)
    return counts / counts.sum()
