"""Scores of many rows, how well they are known, and votes, from many draws, on a device.

Draws that were there for the last rows are kept for the next ones, while they live in memory here.
"""

import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.programs import program
from bayesmargin.foundation.types import FloatArray, IntArray

SCORES = 1 << 24  # scores held at a time
WEIGHTS = 1 << 28  # of the draws that are on the device together, and of those that stay there
PROBES = 1009  # weights that tell whether draws have been changed in their place


class Away(NamedTuple):
    """Draws less their mean, on the device: (draw, block, feature) and (draw, block)."""

    coef: Any
    intercept: Any


class Kept(NamedTuple):
    """Draws on the device, whose they are, and some of their weights."""

    away: Away
    owner: Any
    probe: FloatArray


Found = tuple[int, list[Any]]  # the first row, and what is known of its piece
Ask = Callable[[Any, slice, Away, bool], list[Any]]  # of rows, their place, and a group of draws
_kept: dict[tuple[Any, ...], Kept] = {}


@program
def _squares(rows: Any, away: Away, leader: Any, share: Any) -> Any:
    """Squares of scores (row, block) summed over draws, times ``share``.

    With a leader they are those of the differences to its score.
    """

    def add(k: Any, total: Any) -> Any:
        scores = jnp.dot(rows, away.coef[k].T, preferred_element_type=jnp.float32)
        scores = scores + away.intercept[k]
        if leader is not None:
            scores = scores - jnp.take_along_axis(scores, leader[:, None], axis=1)
        return total + jnp.square(scores)

    count, blocks = away.intercept.shape
    start = jnp.zeros((rows.shape[0], blocks), jnp.float32)
    return share * jax.lax.fori_loop(0, count, add, start)


@program
def _scores(rows: Any, coef: Any, intercept: Any) -> Any:
    """Scores (row, block), as precise as single precision is."""
    return jnp.dot(rows, coef.T, precision=jax.lax.Precision.HIGHEST) + intercept


@program(static_argnames=("signs",))
def _votes(rows: Any, away: Away, coef: Any, intercept: Any, signs: bool) -> Any:
    """How many draws (row, block) have a positive score, or their largest one, in a block."""
    mean = jnp.dot(rows, coef.T, precision=jax.lax.Precision.HIGHEST) + intercept
    blocks = jnp.arange(mean.shape[1])

    def add(k: Any, total: Any) -> Any:
        differ = jnp.dot(rows, away.coef[k].T, preferred_element_type=jnp.float32)
        scores = mean + (differ + away.intercept[k])
        chosen = scores > 0 if signs else scores.argmax(axis=1)[:, None] == blocks
        return total + chosen

    return jax.lax.fori_loop(0, len(away.intercept), add, jnp.zeros(mean.shape, jnp.float32))


@program(donate_argnums=(0, 1))
def _centred(coef: Any, intercept: Any) -> Away:
    """Draws less their mean, in the place of the draws."""
    return Away(coef - coef.mean(axis=0), intercept - intercept.mean(axis=0))


def spread_of_scores(
    X: FloatArray, coef: FloatArray, intercept: FloatArray, leader: IntArray | None = None
) -> FloatArray:
    """Variances (row, block) of scores over draws; of differences to a leader's, if there is one.

    Parameters
    ----------
    X : array of shape (row, feature)
    coef : array of shape (draw, block, feature)
    intercept : array of shape (draw, block)
    leader : array of shape (row,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.predicting import spread_of_scores
    >>> coef = np.array([[[1.0]], [[3.0]]], np.float32)
    >>> spread_of_scores(np.array([[2.0]], np.float32), coef, np.zeros((2, 1), np.float32))
    array([[8.]], dtype=float32)
    """
    share = _share(intercept)

    def ask(rows: Any, part: slice, away: Away, first: bool) -> list[Any]:
        lead = None if leader is None else jnp.asarray(leader[part])
        return [_squares(rows, away, lead, share)]

    (variance,) = _of_pieces(X, coef, intercept, ask, 1)
    return variance


def scores_with_spread(
    X: FloatArray, mean: tuple[FloatArray, FloatArray], coef: FloatArray, intercept: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scores (row, block) under mean weights, and their variances over draws.

    ``mean`` are weights (block, feature) and intercepts (block,), draws as of
    :func:`spread_of_scores`. Rows travel once.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.predicting import scores_with_spread
    >>> coef = np.array([[[1.0]], [[3.0]]], np.float32)
    >>> X, mean = np.array([[2.0]], np.float32), (np.array([[2.0]]), np.array([0.5]))
    >>> scores_with_spread(X, mean, coef, np.zeros((2, 1), np.float32))
    (array([[4.5]], dtype=float32), array([[8.]], dtype=float32))
    """
    share, centre = _share(intercept), [jnp.asarray(part, jnp.float32) for part in mean]

    def ask(rows: Any, part: slice, away: Away, first: bool) -> list[Any]:
        known = [_squares(rows, away, None, share)]
        return [*known, _scores(rows, *centre)] if first else known

    variance, scores = _of_pieces(X, coef, intercept, ask, 2)
    return scores, variance


def shares_of_votes(
    X: FloatArray, coef: FloatArray, intercept: FloatArray, signs: bool
) -> FloatArray:
    """Shares of draws (row, block) with a positive score, or with their largest one, in a block.

    Parameters
    ----------
    signs : bool
        Whether every block is judged by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.predicting import shares_of_votes
    >>> coef = np.array([[[1.0], [0.0]], [[3.0], [4.0]]], np.float32)
    >>> shares_of_votes(np.array([[2.0]], np.float32), coef, np.zeros((2, 2), np.float32), False)
    array([[0.5, 0.5]], dtype=float32)
    """
    centre = [jnp.asarray(part.mean(axis=0), jnp.float32) for part in (coef, intercept)]

    def ask(rows: Any, part: slice, away: Away, first: bool) -> list[Any]:
        return [_votes(rows, away, *centre, signs=signs)]

    (votes,) = _of_pieces(X, coef, intercept, ask, 1)
    return np.asarray(votes / len(coef))


def _share(intercept: FloatArray) -> Any:
    """What a square counts for in a variance over draws."""
    return jnp.float32(1.0 / max(1, len(intercept) - 1))


def _of_pieces(
    X: FloatArray, coef: FloatArray, intercept: FloatArray, ask: Ask, n_tables: int
) -> list[FloatArray]:
    """Sums of what is asked of rows and draws, tables (row, block), piece by piece.

    What is asked of the first group of draws alone comes last.
    """
    blocks = intercept.shape[1]
    tables = [np.zeros((len(X), blocks), np.float32) for _ in range(n_tables)]
    step = min(len(X), max(1, SCORES // blocks))
    for number, away in enumerate(_groups(coef, intercept)):
        waiting: Found | None = None  # the device computes while what is known comes back
        for first in range(0, len(X), step):
            start = min(first, len(X) - step)  # pieces of one size: one program
            part = slice(start, start + step)
            found = ask(jnp.asarray(X[part], jnp.float32), part, away, number == 0)
            before, waiting = waiting, (first, found)
            _collect(tables, step, before)
        _collect(tables, step, waiting)
    return tables


def _collect(tables: list[FloatArray], step: int, found: Found | None) -> None:
    """Add what a piece of rows has found, less the rows that the piece before has had."""
    if found is not None:
        first, known = found
        for table, piece in zip(tables, known, strict=False):
            new = table[first : first + step]
            new += np.asarray(piece)[step - len(new) :]


def _groups(coef: FloatArray, intercept: FloatArray) -> Iterator[Away]:
    """Draws on the device: all of them, kept there, or as many at a time as there is room for."""
    together = max(1, WEIGHTS // coef[0].size)
    if len(coef) <= together:
        yield at_hand(coef, intercept)
        return
    _kept.clear()
    centre = coef.mean(axis=0), intercept.mean(axis=0)
    for first in range(0, len(coef), together):
        some = slice(first, first + together)
        away = coef[some] - centre[0], intercept[some] - centre[1]
        yield Away(*(jnp.asarray(part, jnp.float32) for part in away))


def at_hand(coef: FloatArray, intercept: FloatArray) -> Away:
    """Draws that the device has from an earlier call, or has from now on."""
    owner = _owner(coef)
    places = [(part.ctypes.data, part.shape, part.strides) for part in (coef, intercept)]
    key = (id(owner), *places)
    some = np.unravel_index(np.linspace(0, coef.size - 1, PROBES).astype(np.int64), coef.shape)
    probe = np.concatenate([coef[some], intercept[0]])
    known = _kept.get(key)
    if known is not None and known.owner() is owner and np.array_equal(known.probe, probe):
        return known.away
    room = WEIGHTS - coef.size
    while _kept and sum(one.away.coef.size for one in _kept.values()) > room:
        del _kept[next(iter(_kept))]
    away = _centred(jnp.array(coef, jnp.float32), jnp.array(intercept, jnp.float32))
    _kept[key] = Kept(away, weakref.ref(owner, lambda _: _kept.pop(key, None)), probe)
    return away


def _owner(array: Any) -> Any:
    """The array in whose memory a view lies."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
