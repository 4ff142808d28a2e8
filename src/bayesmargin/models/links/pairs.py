"""Pairs of entities of which it is known whether they are linked, and where to find each entity's.

A pair is held once. An entity finds its pairs in groups: for every relation one, and for directed
links two, first those whose source it is and then those whose target.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray


class Pairs(NamedTuple):
    """What chains read; nothing in it changes."""

    source: IntArray  #: (n_pairs,) entities
    target: IntArray
    relation: IntArray
    side: FloatArray  #: 1 for a link, -1 for none
    cost: FloatArray  #: of a unit of slack
    start: IntArray  #: (n_entities * n_groups + 1,) the first entry of each entity's groups
    entry: IntArray  #: pairs, by entity and group
    other: IntArray  #: the other entity of each


class Asked(NamedTuple):
    """Pairs as they were read: source, target, relation, and whether there is a link."""

    source: IntArray
    target: IntArray
    relation: IntArray
    linked: IntArray
    weight: FloatArray  #: pairs that each stands for

    def only(self, chosen: BoolArray | IntArray) -> "Asked":
        """Some of them."""
        source, target, relation, linked, weight = self
        names = source[chosen], target[chosen], relation[chosen]
        return Asked(*names, linked[chosen], weight[chosen])


def indexed(asked: Asked, cost: FloatArray, n_entities: int, n_groups: int, roles: int) -> Pairs:
    """Pairs with the index of the entities."""
    n_pairs = len(asked.source)
    here = np.concatenate([asked.source, asked.target])
    other = np.concatenate([asked.target, asked.source])
    role = np.repeat(np.arange(2) % roles, n_pairs)
    group = here * n_groups + np.tile(asked.relation, 2) * roles + role
    order = np.lexsort([other, group])
    start = np.searchsorted(group[order], np.arange(n_entities * n_groups + 1))
    entry = np.tile(np.arange(n_pairs), 2)[order]
    side = np.where(asked.linked > 0, 1.0, -1.0)
    names = asked.source, asked.target, asked.relation
    return Pairs(*names, side, cost, start.astype(np.int64), entry, other[order])


def weight_of_links(wanted: float | str, asked: Asked) -> float:
    """The weight of a link; "balanced": pairs without a link for each with one.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.links.pairs import Asked, weight_of_links
    >>> asked = Asked(*np.triu_indices(9, 1), np.zeros(36, int), np.arange(36) < 6, np.ones(36))
    >>> weight_of_links("balanced", asked)
    5.0
    """
    if not isinstance(wanted, str):
        return float(wanted)
    linked = asked.linked > 0
    return float(asked.weight[~linked].sum() / asked.weight[linked].sum())


def fewer_negatives(asked: Asked, per_link: float, rng: np.random.Generator) -> Asked:
    """All links, and so many pairs without a link for each, which stand for all of these.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.links.pairs import Asked, fewer_negatives
    >>> many = Asked(*np.triu_indices(9, 1), np.zeros(36, int), np.arange(36) < 3, np.ones(36))
    >>> few = fewer_negatives(many, 2.0, np.random.default_rng(0))
    >>> len(few.source), few.weight[few.linked == 0]
    (9, array([5.5, 5.5, 5.5, 5.5, 5.5, 5.5]))
    """
    free = np.flatnonzero(asked.linked == 0)
    number = min(len(free), max(1, round(per_link * int((asked.linked > 0).sum()))))
    chosen = rng.choice(free, number, replace=False)
    weight = asked.weight.copy()
    weight[chosen] *= len(free) / max(number, 1)
    kept = np.sort(np.concatenate([np.flatnonzero(asked.linked > 0), chosen]))
    return asked._replace(weight=weight).only(kept)


def split_off(asked: Asked, share: float, rng: np.random.Generator) -> tuple[Asked, Asked]:
    """All pairs but a share of those with a link and of those without, and these.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.links.pairs import Asked, split_off
    >>> every = Asked(*np.triu_indices(9, 1), np.zeros(36, int), np.arange(36) < 6, np.ones(36))
    >>> shown, hidden = split_off(every, 0.34, np.random.default_rng(0))
    >>> int(shown.linked.sum()), int(hidden.linked.sum()), len(hidden.linked)
    (4, 2, 12)
    """
    hidden = np.zeros(len(asked.source), dtype=bool)
    for kind in (asked.linked > 0, asked.linked == 0):
        places = np.flatnonzero(kind)
        number = min(max(1, round(share * len(places))), max(1, len(places) - 1))
        hidden[rng.choice(places, number, replace=False)] = True
    return asked.only(~hidden), asked.only(hidden)
