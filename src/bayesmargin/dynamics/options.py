r"""The options of the rows that a trajectory watches: those that may win on its way.

The hinge of a row is the largest of its options, each linear in the weights. Most options never
win: under the anchor, option :math:`k` of row :math:`d` overtakes the winner at the anchor's mean
with probability :math:`\Phi(-t)`, where :math:`t` is the lead of that winner in its own posterior
standard deviations. A trajectory that leaves such options out moves under another energy, the
largest of the options that are left: it still preserves volume and can still be undone, and the
Metropolis test with the true energy leaves the posterior invariant all the same. What is left out
costs acceptance alone, where it would have mattered.

When option :math:`b` of a row takes over from :math:`a`, the second derivative in time of every
option's value changes by :math:`c\,(z_a - z_b) \cdot z_o`, where :math:`z` is the gradient of an
option in positions. These products are the same at every crossing, so those of the options closest
to winning, which do nearly all of it, are tabulated once.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.largest import MulticlassHinge
from bayesmargin.likelihoods.one_score import BinaryHinge
from bayesmargin.rows.layout import DenseRows, row_add, row_dot
from bayesmargin.targets.coordinates import Identity, Rotated, Scaled, rotated, weights_from
from bayesmargin.targets.rows import Target

TABULATED = 1 << 24  # products of gradients: 128 MB at the most, for all chains together


class Options(NamedTuple):
    """Options of some rows: ``first[i]`` to ``first[i + 1]`` are those of row ``place[i]``.

    Option ``o`` is number ``option[o]`` of its row and has the value ``factor[o] * x.w +
    constant[o]``, with the weights of block ``block[o]``. ``reference`` is the one of every row
    that wins at the origin. ``table[line[o]]`` holds the products of its gradient with those of all
    options, unless ``line[o]`` is -1.
    """

    place: IntArray
    first: IntArray
    option: IntArray
    block: IntArray
    factor: FloatArray
    constant: FloatArray
    reference: IntArray
    line: IntArray
    table: FloatArray


def add_swing(hinge: Any, rows: Any, d: int, before: int, now: int, data: FloatArray) -> None:
    """Add the change of the energy's gradient when another option of row ``d`` wins (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


@implements(add_swing, BinaryHinge, borrows=True)
def _binary_swing(hinge, rows, d, before, now, data):  # type: ignore[no-untyped-def]
    row_add(rows, d, -hinge.cost[d] * hinge.sign[d] * (now - before), data)


@implements(add_swing, MulticlassHinge, borrows=True)
def _multiclass_swing(hinge, rows, d, before, now, data):  # type: ignore[no-untyped-def]
    length = data.shape[0] // hinge.n_classes
    row_add(rows, d, hinge.cost[d], data[now * length : (now + 1) * length])
    row_add(rows, d, -hinge.cost[d], data[before * length : (before + 1) * length])


@inner_borrowing_jit
def add_options(options, rows, n_blocks, weights, fixed, out):  # type: ignore[no-untyped-def]
    """Add the options at ``weights``, of their constants ``fixed`` times, to ``out``."""
    place, first, block, factor = options.place, options.first, options.block, options.factor
    length = weights.shape[0] // n_blocks
    for i in range(place.shape[0]):
        for o in range(first[i], first[i + 1]):
            if factor[o] == 0.0:
                continue
            begin = block[o] * length
            product = row_dot(rows, place[i], weights[begin : begin + length])
            out[o] += factor[o] * product + fixed * options.constant[o]


def metric(coordinates: Any) -> Identity | Scaled | Rotated:
    """Coordinates that turn a gradient in weights into the move of the weights along it."""
    if isinstance(coordinates, Identity):
        return coordinates
    if isinstance(coordinates, Scaled):
        return Scaled(np.zeros_like(coordinates.centre), coordinates.scale**2)
    spread = coordinates.basis @ coordinates.transposed
    return rotated(np.zeros_like(coordinates.centre), spread)


def options_in_play(target: Target, within: float) -> Options:
    """Options whose lag behind the winner at the origin is below ``within`` of its deviations.

    Rows of which none but the winner is left are left out: they are linear. With ``within``
    infinite every option of every row is in play, and so it is where all products fit the table.
    """
    hinge, shape = target.hinge, (int(target.strata.start[-1]), _n_options(target))
    lag = _lags(target) if np.isfinite(within) else np.zeros(shape)
    lag[np.arange(len(lag)), hinge.reference] = 0.0
    played = (lag < within) | (lag.size**2 <= TABULATED)
    place = np.flatnonzero(played.sum(axis=1) > 1)
    owner, option = np.nonzero(played[place])
    row = place[owner]
    if isinstance(hinge, BinaryHinge):
        block = np.zeros_like(option)
        factor, constant = -option * hinge.sign[row], option * hinge.slack[row]
    else:
        block, factor = option, np.ones(option.size)
        constant = np.where(option == hinge.label[row], 0.0, hinge.margin)
    options = Options(
        place=place,
        first=np.searchsorted(owner, np.arange(place.size + 1)),
        option=option,
        block=block,
        factor=factor.astype(float),
        constant=constant.astype(float),
        reference=np.flatnonzero(option == hinge.reference[row]),
        line=np.full(option.size, -1),
        table=np.empty((0, option.size)),
    )
    if not isinstance(target.rows, DenseRows):
        return options
    # A winner is as close to losing as the closest of the others is to winning.
    lag[np.arange(len(lag)), hinge.reference] = np.inf
    lag[np.arange(len(lag)), hinge.reference] = lag.min(axis=1)
    order = np.argsort(lag[row, option], kind="stable")
    return _tabulated(target, options, row, order[: TABULATED // max(1, order.size)])


def lag_to_watch(target: Target, missed: float) -> float:
    """Lag beyond which no more than ``missed`` options overtake the winner at the origin.

    That number is expected of a standard normal position. Fewer of them win: others may be ahead.
    """
    lag = _lags(target)
    lag[np.arange(len(lag)), target.hinge.reference] = np.inf
    lag = np.sort(lag, axis=None)[::-1]
    beyond = np.cumsum(special.ndtr(-lag))
    return float(lag[min(int(np.searchsorted(beyond, missed)), lag.size - 1)])


def _tabulated(target: Target, options: Options, row: IntArray, chosen: IntArray) -> Options:
    """The options with the products of the gradients of some of them."""
    spread, size = metric(target.coordinates), target.rows.values.shape[1]
    values, factor, block = target.rows.values, options.factor, options.block
    table, line = np.zeros((chosen.size, row.size)), options.line.copy()
    line[chosen] = np.arange(chosen.size)
    for i in range(int(block.max(initial=-1)) + 1):
        lines = np.flatnonzero(block[chosen] == i)
        mine = chosen[lines]
        for j in range(int(block.max()) + 1):
            form, columns = _block(spread, i, j, size), np.flatnonzero(block == j)
            own = values[row[mine]] * factor[mine, None]
            moved = own * form if form.ndim == 1 else own @ form
            products = moved @ (values[row[columns]] * factor[columns, None]).T
            table[np.ix_(lines, columns)] = products
    return options._replace(line=line, table=table)


def _n_options(target: Target) -> int:
    return int(getattr(target.hinge, "n_classes", 2))


def _lags(target: Target) -> FloatArray:
    """Lag of every option (row, option) behind the row's reference, in standard deviations.

    Positions are standard normal, and the reference of a row is its winner at the origin.
    """
    hinge, values, coordinates = target.hinge, target.rows.values, target.coordinates
    origin = weights_from(coordinates, np.zeros(target.drift.shape[0]))
    spread, best = metric(coordinates), hinge.reference
    lag = np.full((len(values), _n_options(target)), np.inf)
    if isinstance(hinge, BinaryHinge):
        gap = np.abs(hinge.slack - hinge.sign * (values @ origin))
        width = np.sqrt(_quadratic(values, _block(spread, 0, 0, values.shape[1])))
        lag[np.arange(len(lag)), 1 - best] = gap / np.maximum(width, 1e-300)
        return lag
    n_classes, size = lag.shape[1], values.shape[1]
    value = values @ origin.reshape(n_classes, size).T + hinge.margin
    value[np.arange(len(lag)), hinge.label] -= hinge.margin
    for b in range(n_classes):
        rows = np.flatnonzero(best == b)
        for k in range(n_classes):
            if k == b or rows.size == 0:
                continue
            own, other = _block(spread, b, b, size), _block(spread, k, k, size)
            both = own + other - 2.0 * _block(spread, b, k, size)
            width = np.sqrt(np.maximum(_quadratic(values[rows], both), 0.0))
            gap = value[rows, b] - value[rows, k]
            lag[rows, k] = gap / np.maximum(width, 1e-300)
    return lag


def _quadratic(values: FloatArray, form: FloatArray) -> FloatArray:
    """Quadratic form of every row; a vector is a diagonal."""
    moved = values * form if form.ndim == 1 else values @ form
    return np.einsum("ij,ij->i", moved, values)


def _block(spread: Any, i: int, j: int, size: int) -> FloatArray:
    """Covariance of the weights of blocks ``i`` and ``j``, each of ``size``."""
    if isinstance(spread, Identity):
        return np.full(size, 1.0 if i == j else 0.0)
    if isinstance(spread, Scaled):
        return spread.scale[i * size : (i + 1) * size] * (1.0 if i == j else 0.0)
    if len(spread.basis) > 1:
        return spread.basis[i] if i == j else np.zeros((size, size))
    return spread.basis[0, i * size : (i + 1) * size, j * size : (j + 1) * size]
