"""The posterior of tiny networks by brute force: every feature matrix, weights integrated out."""

import numpy as np
from scipy.stats import norm, qmc

from bayesmargin.models.links.weights import INTERCEPT_SCALE

from ..buffet.enumeration import law


def design(matrix, pairs, symmetric):
    """Coefficients of all weights in the scores of the pairs."""
    size = matrix.shape[1]
    relations = int(pairs.relation.max()) + 1
    rows = []
    for i, j, r in zip(pairs.source, pairs.target, pairs.relation, strict=True):
        both = np.zeros((relations, size, size))
        both[r] = np.outer(matrix[i], matrix[j])
        if symmetric:
            both = np.tril(both) + np.swapaxes(np.triu(both, 1), 1, 2)
        rows.append(both.ravel())
    return np.array(rows).reshape(len(pairs.source), -1)


def points(dimension, power=14):
    """Normal variates that fill the space evenly."""
    return norm.ppf(qmc.Sobol(dimension, rng=np.random.default_rng(0)).random_base2(power))


def log_evidence(matrix, pairs, margin, scale, symmetric, normal):
    """Log of the integral of the pseudo-likelihood over the prior of weights and intercepts.

    It is a mean over the normal law of the scores, of something between zero and one.
    """
    coefficients = design(matrix, pairs, symmetric)
    same = pairs.relation[:, None] == pairs.relation
    covariance = scale**2 * coefficients @ coefficients.T + INTERCEPT_SCALE**2 * same
    values, vectors = np.linalg.eigh(covariance)
    scores = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    energy = np.maximum(0.0, margin - pairs.side * scores) @ pairs.cost
    return float(np.log(np.exp(-energy).mean()))


def posterior(pairs, n_entities, concentration, margin, scale, symmetric, most=6):
    """Probability of every matrix of at most so many features, by its name."""
    normal = points(len(pairs.side))
    return law(
        n_entities,
        most,
        concentration,
        lambda matrix: log_evidence(matrix, pairs, margin, scale, symmetric, normal),
    )
