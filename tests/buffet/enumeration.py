"""Every matrix of a few binary features, by brute force."""

import itertools

import numpy as np

from bayesmargin.models.buffet.prior import log_prior


def matrices(n_rows, most):
    """All matrices of at most so many features, one for each set of columns."""
    kinds = [np.array(kind) for kind in itertools.product((0, 1), repeat=n_rows) if any(kind)]
    for size in range(most + 1):
        for chosen in itertools.combinations_with_replacement(range(len(kinds)), size):
            yield np.array([kinds[h] for h in chosen], dtype=int).reshape(size, n_rows).T


def name_of(matrix, most=2):
    """The same for matrices that differ in the order of their columns; large ones by their size.

    Thousands of rare matrices would add more noise to a distance than a mistake does.
    """
    if matrix.shape[1] > most:
        return matrix.shape[1]
    powers = 2 ** np.arange(len(matrix))
    return tuple(sorted((powers @ matrix).tolist()))


def law(n_rows, most, concentration, log_likelihood):
    """Probability of every matrix by its name."""
    found = {}
    for matrix in matrices(n_rows, most):
        value = np.exp(log_prior(matrix, concentration) + log_likelihood(matrix))
        found[name_of(matrix)] = found.get(name_of(matrix), 0.0) + value
    total = sum(found.values())
    return {name: value / total for name, value in found.items()}


def distance(names, expected):
    """Total variation between the frequencies of some names and their probabilities."""
    counts = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    every = set(counts) | set(expected)
    return 0.5 * sum(abs(counts.get(n, 0) / len(names) - expected.get(n, 0.0)) for n in every)
