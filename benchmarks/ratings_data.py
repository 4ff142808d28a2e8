"""MovieLens 100K for the benchmark of ratings: the official folds, and what is measured."""

import lzma
import os
from pathlib import Path

import numpy as np


def read(name):
    """User, item and rating of every row of a file."""
    folder = Path(os.environ.get("BAYESMARGIN_DATA", "shared/data")) / "movielens100k"
    with lzma.open(folder / f"{name}.xz", "rt") as lines:
        return np.array([[int(value) for value in line.split()[:3]] for line in lines])


def fold(number):
    """Ratings to learn from, and those to predict, of fold u1 to u5."""
    every, test = read("u.data"), read(f"u{number}.test")

    def key(rows):
        return rows[:, 0] * 100_000 + rows[:, 1]

    return every[~np.isin(key(every), key(test))], test


def hidden(train, seed=0, share=0.1):
    """A part of the training ratings that is hidden, for choices that see no test rating."""
    order = np.random.default_rng(seed).permutation(len(train))
    cut = round(share * len(train))
    return train[order[cut:]], train[order[:cut]]


def measure(rating, best, mean):
    """Normalised mean absolute error of one prediction, root mean squared error of another.

    The first is divided by 1.6, the error of a rating drawn at random for one drawn at random.
    """
    nmae = np.abs(best - rating).mean() / 1.6
    return float(nmae), float(np.sqrt(np.mean((mean - rating) ** 2)))


def measure_chances(rating, chance, levels):
    """Log loss, and for 80% and 95% intervals how often they cover and what they promise.

    An interval of levels holds more than it is asked for; ``promised`` is the mean probability
    that the model gives to the levels in it.
    """
    place = np.searchsorted(levels, rating)
    upto, found = np.cumsum(chance, axis=1), []
    for probability in (0.8, 0.95):
        tail = 0.5 - 0.5 * probability
        low, high = ((upto[:, :-1] < end).sum(axis=1) for end in (tail, 1.0 - tail))
        rows = np.arange(len(rating))
        below = np.where(low > 0, upto[rows, low - 1], 0.0)
        found += [np.mean((low <= place) & (place <= high)), np.mean(upto[rows, high] - below)]
    loss = -np.log(np.maximum(chance[np.arange(len(rating)), place], 1e-15)).mean()
    return [float(value) for value in (loss, *found)]
