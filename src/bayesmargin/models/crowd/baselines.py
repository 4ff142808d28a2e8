r"""What others do with the labels of a crowd: three votes, to be measured against.

Each takes the labels as :class:`~bayesmargin.MaxMarginVoting` does and returns the items with a
probability for every class.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.arguments import require_count, require_positive
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.triples import numbers_of
from bayesmargin.models.crowd.reading import classes_of, read_named, sorted_votes
from bayesmargin.models.crowd.votes import Votes, item_of, share_of_votes


class Vote(NamedTuple):
    """Items, classes, and how probable each class (column) is for each item (row)."""

    items: Any
    classes: Any
    probability: FloatArray

    @property
    def label(self) -> Any:
        """The most probable class of each item; the first on ties."""
        return self.classes[self.probability.argmax(axis=1)]


def read_votes(labels: Any, n_classes: int | None = None) -> tuple[Votes, Any, Any, Any]:
    """Votes, and the names of items, workers and classes."""
    named = read_named(labels)
    items, item = np.unique(named.item, return_inverse=True)
    workers, worker = np.unique(named.worker, return_inverse=True)
    classes = classes_of(named.label, np.empty(0), n_classes)
    votes = sorted_votes(item, worker, numbers_of(named.label, classes), len(items))
    return votes, items, workers, classes


def majority_vote(labels: Any, n_classes: int | None = None) -> Vote:
    """Shares of the votes.

    Examples
    --------
    >>> from bayesmargin.models.crowd import majority_vote
    >>> vote = majority_vote([(1, "a", "cat"), (1, "b", "cat"), (1, "c", "dog"), (2, "a", "dog")])
    >>> vote.label.tolist(), vote.probability[0].round(2).tolist()
    (['cat', 'dog'], [0.67, 0.33])
    """
    votes, items, _, classes = read_votes(labels, n_classes)
    return Vote(items, classes, share_of_votes(votes, len(classes)))


def weighted_vote(labels: Any, n_classes: int | None = None, n_rounds: int = 100) -> Vote:
    r"""Iterative weighted majority vote (Li and Yu, 2014).

    A worker's vote counts :math:`v_j = K a_j - 1`, with :math:`a_j` the share of the worker's
    labels that agree with the last vote and K the number of classes; until nothing changes.

    Examples
    --------
    >>> from bayesmargin.models.crowd import weighted_vote
    >>> rows = [(i, w, i % 2 if w < 3 else 0) for i in range(6) for w in range(5)]
    >>> weighted_vote(rows).label.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    require_count("n_rounds", n_rounds, 1)
    votes, items, workers, classes = read_votes(labels, n_classes)
    count, item = len(classes), item_of(votes)
    chosen = share_of_votes(votes, count).argmax(axis=1)
    given = np.bincount(votes.worker, minlength=len(workers))
    scores = np.empty((len(items), count))
    for _ in range(n_rounds):
        agreed = np.bincount(votes.worker, chosen[item] == votes.label, minlength=len(workers))
        weight = count * agreed / given - 1.0
        scores[:] = 0.0
        np.add.at(scores, (item, votes.label), weight[votes.worker])
        before, chosen = chosen, scores.argmax(axis=1)
        if np.array_equal(before, chosen):
            break
    scores -= scores.max(axis=1, keepdims=True)
    chance = np.exp(scores)
    return Vote(items, classes, chance / chance.sum(axis=1, keepdims=True))


def dawid_skene(
    labels: Any,
    n_classes: int | None = None,
    pseudo_count: float = 1.0,
    n_rounds: int = 500,
    tolerance: float = 1e-6,
) -> Vote:
    r"""The model of Dawid and Skene (1979) by expectation and maximisation.

    Worker j says k of an item of class z with probability :math:`\Phi_{jzk}`, independently of
    other workers. ``pseudo_count`` labels are added to every cell of every worker's matrix, so
    that few labels do not make certainties.

    Examples
    --------
    >>> from bayesmargin.models.crowd import dawid_skene
    >>> rows = [(i, w, i % 2 if w < 3 else 1 - i % 2) for i in range(9) for w in range(4)]
    >>> dawid_skene(rows).label.tolist()
    [0, 1, 0, 1, 0, 1, 0, 1, 0]
    """
    require_positive(pseudo_count=pseudo_count, tolerance=tolerance)
    require_count("n_rounds", n_rounds, 1)
    votes, items, workers, classes = read_votes(labels, n_classes)
    chance = share_of_votes(votes, len(classes))
    item, cell = item_of(votes), votes.worker * len(classes) + votes.label
    size = len(workers) * len(classes)
    for _ in range(n_rounds):
        counts = np.stack([np.bincount(cell, chance[item, z], size) for z in range(len(classes))])
        table = counts.reshape(len(classes), len(workers), len(classes)) + pseudo_count
        spoken = np.log(table / table.sum(axis=2, keepdims=True)).reshape(len(classes), size)
        logs = np.log(chance.mean(axis=0) + 1e-300) + np.stack(
            [np.bincount(item, spoken[z, cell], len(items)) for z in range(len(classes))], axis=1
        )
        before, chance = chance, np.exp(logs - logs.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        if np.abs(before - chance).max() < tolerance:
            break
    return Vote(items, classes, chance)
