r"""A sweep over binary features with the prior of the Indian buffet: old features, then new ones.

By exchangeability every row may be taken for the last guest. Row i holds a feature that :math:`m`
of the others hold with odds

.. math:: \frac{m}{N - m}\;\frac{p(\text{data} \mid z_{ik} = 1)}{p(\text{data} \mid z_{ik} = 0)}.

Of features of its own, which nobody else holds, it has :math:`\kappa`, with

.. math:: P(\kappa) \propto \frac{(\alpha/N)^\kappa}{\kappa!}\; p(\text{data} \mid \kappa),

where their parameters are integrated out, given whatever variables make that possible. One more or
one less is proposed and taken by the test of Metropolis and Hastings; then all of them get new
parameters. The variables are drawn while the own features are still there, so that both steps leave
the law of :math:`(\kappa, \text{parameters})` given these variables as it is.

A model brings a NamedTuple, its *view* of a chain, and registers bodies of the generics here with
:func:`~bayesmargin.foundation.compiling.implements`.
"""

import math
from typing import Any

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.models.buffet.features import Features


def begin_row(view: Any, features: Features, row: int, rng: Any) -> None:
    """Prepare for the entries of a row (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


def gain(view: Any, features: Features, row: int, column: int) -> float:
    """Log likelihood with the feature less that without it (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


def flipped(view: Any, features: Features, row: int, column: int, change: float) -> None:
    """An entry has gone up or down by one: keep scores (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


def loosen(view: Any, features: Features, row: int, rng: Any) -> None:
    """Draw what makes the law of new features' parameters tractable (generic, compiled).

    Called before the row's own features go.
    """
    raise TypeError(f"{type(view).__name__} has no features")


def move(view: Any, features: Features, source: int, target: int) -> None:
    """Parameters of a column go to another one, whose own are lost (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


def weigh(view: Any, features: Features, row: int, number: int) -> float:
    """Log likelihood with so many own features of the row, integrated (generic, compiled).

    The row has none while this is asked.
    """
    raise TypeError(f"{type(view).__name__} has no features")


def create(view: Any, features: Features, row: int, first: int, count: int, rng: Any) -> None:
    """Draw the parameters of the row's own features, which it holds again (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


def end_row(view: Any, features: Features, row: int) -> None:
    """Keep what depends on the features of the row (generic, compiled)."""
    raise TypeError(f"{type(view).__name__} has no features")


@inner_jit
def put(view, features, row, column, value):  # type: ignore[no-untyped-def]
    """Set an entry."""
    change = value - features.held[row, column]
    if change != 0:
        features.held[row, column] = value
        features.holders[column] += change
        flipped(view, features, row, column, float(change))


@inner_jit
def renew_old(view, features, row, rng):  # type: ignore[no-untyped-def]
    """Draw the row's entries of features that others hold; returns how many have changed."""
    changed, n_rows = 0, features.held.shape[0]
    for k in range(features.size[0]):
        before = features.held[row, k]
        others = features.holders[k] - before
        if others == 0:
            continue
        odds = math.log(others / (n_rows - others)) + gain(view, features, row, k)
        value = 1 if rng.random() * (1.0 + math.exp(-min(max(odds, -700.0), 700.0))) < 1.0 else 0
        if value != before:
            put(view, features, row, k, value)
            changed += 1
    return changed


@inner_jit
def take_away(view, features, row):  # type: ignore[no-untyped-def]
    """Take away the features that nobody but the row holds; returns how many."""
    lost = 0
    for k in range(features.size[0] - 1, -1, -1):
        if features.holders[k] == features.held[row, k]:
            put(view, features, row, k, 0)
            last = features.size[0] - 1
            if k != last:
                for i in range(features.held.shape[0]):
                    features.held[i, k] = features.held[i, last]
                    features.held[i, last] = 0
                features.holders[k], features.holders[last] = features.holders[last], 0
                move(view, features, last, k)
            features.size[0] = last
            lost += 1
    return lost


@inner_jit
def draw_number(view, features, row, number, rate, rng):  # type: ignore[no-untyped-def]
    """How many features of its own the row has from now on, given how many it had."""
    up = rng.random() < 0.5
    if not up and number == 0:
        return 0
    wanted = number + 1 if up else number - 1
    prior = rate / wanted if up else number / rate
    change = weigh(view, features, row, wanted) - weigh(view, features, row, number)
    return wanted if math.log(max(rng.random(), 1e-300)) < math.log(prior) + change else number


@jit
def sweep_rows(view, features, concentration, first, counts, rng):  # type: ignore[no-untyped-def]
    """Sweep over the rows from ``first`` on, as far as there is room.

    Parameters
    ----------
    view : NamedTuple
        The model's.
    features : Features
        Moved in place.
    concentration : float
        Of the process.
    first : int
    counts : array of shape (2,)
        Entries of old features that have changed, and rows whose number of own features has, are
        added.
    rng : Generator

    Returns
    -------
    row : int
        The row for which there is no room any more, or the number of rows.
    """
    n_rows, room = features.held.shape
    for row in range(first, n_rows):
        if features.size[0] == room:
            return row
        begin_row(view, features, row, rng)
        counts[0] += renew_old(view, features, row, rng)
        loosen(view, features, row, rng)
        before = take_away(view, features, row)
        number = draw_number(view, features, row, before, concentration / n_rows, rng)
        size = features.size[0]
        for k in range(size, size + number):
            features.held[row, k] = features.holders[k] = 1
        features.size[0] += number
        create(view, features, row, size, number, rng)
        end_row(view, features, row)
        counts[1] += 1 if number != before else 0
    return n_rows
