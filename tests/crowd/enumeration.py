"""The posterior of tiny crowds by brute force: every labelling, weights on a grid."""

import itertools
import math

import numpy as np


def hinge(scores, truth, margin):
    """Energy of one item: by how much the true class fails to win."""
    others = [score for k, score in enumerate(scores) if k != truth]
    return max(0.0, margin + max(others) - scores[truth])


def log_matrices(table, truth, strength):
    """Log probability of all votes given a labelling, matrices and shares integrated out."""
    n_classes, n_workers = len(strength), table.shape[1]
    total = 0.0
    for j in range(n_workers):
        for k in range(n_classes):
            counts = [np.sum((table[:, j] == x) & (truth == k)) for x in range(n_classes)]
            total += math.lgamma(sum(strength[k])) - math.lgamma(sum(strength[k]) + sum(counts))
            total += sum(
                math.lgamma(a + n) - math.lgamma(a)
                for a, n in zip(strength[k], counts, strict=True)
            )
    sizes = np.bincount(truth, minlength=n_classes)
    total += math.lgamma(n_classes) - math.lgamma(n_classes + len(truth))
    return total + sum(math.lgamma(1 + size) for size in sizes)


def labellings(table, n_classes, cost, margin, mean, scale, strength, points=161):
    """Every labelling with its posterior probability, and the mean weights.

    ``table`` (item, worker) holds labels, -1 where there is none. Weights are summed over a grid of
    six standard deviations, whose error is that of the trapezoidal rule.
    """
    n_items, n_workers = table.shape
    axis = np.linspace(mean - 6.0 * scale, mean + 6.0 * scale, points)
    grid = np.stack(np.meshgrid(*[axis] * n_workers, indexing="ij"), -1).reshape(-1, n_workers)
    prior = -0.5 * (((grid - mean) / scale) ** 2).sum(axis=1)
    scores = np.zeros((n_items, n_classes, len(grid)))
    for i in range(n_items):
        for j in range(n_workers):
            if table[i, j] >= 0:
                scores[i, table[i, j]] += grid[:, j]
    loss = np.empty_like(scores)
    for k in range(n_classes):
        rival = np.delete(scores, k, axis=1).max(axis=1)
        loss[:, k] = np.maximum(0.0, margin + rival - scores[:, k])
    every = list(itertools.product(range(n_classes), repeat=n_items))
    logs, means = [], []
    for truth in every:
        value = prior - cost * sum(loss[i, k] for i, k in enumerate(truth))
        top = value.max()
        mass = np.exp(value - top)
        matrices = 0.0 if strength is None else log_matrices(table, np.array(truth), strength)
        logs.append(top + math.log(mass.sum()) + matrices)
        means.append(mass @ grid / mass.sum())
    chance = np.exp(np.array(logs) - max(logs))
    chance /= chance.sum()
    return every, chance, chance @ np.array(means)
