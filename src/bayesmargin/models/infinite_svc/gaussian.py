r"""Collapsed Normal-inverse-Wishart features: predictive density and rank-1 changes.

With :math:`n` members, :math:`\kappa = \kappa_0 + n`, :math:`\nu = \nu_0 + n` and
:math:`q = (x-m)^\top \Psi^{-1} (x-m)` the predictive density of a further row is

.. math::

   \log t(x) = S_n - \tfrac12 \log|\Psi|
      - \tfrac{\nu+1}{2}\log\!\Big(1 + \tfrac{\kappa}{\kappa+1}\, q\Big),

where :math:`S_n` depends on the size alone and sits in a table. The quadratic form is a single
inner product with the features :math:`(x_i x_j, x_i, 1)` of the row, whose sums are at the same
time the sufficient statistics.

A member is judged as if it were absent without being removed: with :math:`q` taken at the full
component and :math:`r = 1 - \tfrac{\kappa}{\kappa-1} q`,

.. math:: \log t_{-d}(x_d) = S_{n-1} - \tfrac12\log|\Psi| + \tfrac{\nu-1}{2} \log r,

because :math:`|\Psi_{-d}| = r |\Psi|` and :math:`1 + \tfrac{\kappa-1}{\kappa} q_{-d} = 1/r`. So a
row that stays where it is costs no update at all.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesmargin.compiling import borrowing_jit, inner_borrowing_jit, inner_jit
from bayesmargin.models.infinite_svc.radii import shrink_radii
from bayesmargin.models.infinite_svc.state import Base, Components, Rows
from bayesmargin.models.mixtures.dense import (
    cholesky,
    copy_matrix,
    copy_vector,
    dot,
    invert_lower,
    square_lower,
)
from bayesmargin.types import FloatArray, IntArray

# A leave-one-out determinant ratio below this is lost to rounding (the row is some 1e5 standard
# deviations away from the rest of its component).
_SMALLEST_RATIO = 1e-10
_UNSAFE_DOWNDATE = 1e-7
# Bits of a positive number, times 2^-52, are its exponent (from 1023) and what it is above 2^e.
_UNIT = 2.0**-52
_HALF_LN2 = 0.5 * math.log(2.0) * (1.0 - 1e-12)  # rounded to the safe side


def student_table(dimension: int, strength: float, degrees: float, rows: int) -> FloatArray:
    """Constants S_n of the predictive density for component sizes 0 .. rows."""
    sizes = np.arange(rows + 1)
    kappa, nu = strength + sizes, degrees + sizes
    table: FloatArray = (
        gammaln((nu + 1) / 2)
        - gammaln((nu - dimension + 1) / 2)
        - dimension / 2 * math.log(math.pi)
        + dimension / 2 * np.log(kappa / (kappa + 1))
    )
    return table


@inner_borrowing_jit
def fill_features(row: FloatArray, features: FloatArray) -> None:
    """Quadratic features of a row: products x_i x_j for j <= i, then x, then 1."""
    size = row.shape[0]
    position = 0
    for i in range(size):
        value = row[i]
        for j in range(i + 1):
            features[position + j] = value * row[j]
        position += i + 1
    for i in range(size):
        features[position + i] = row[i]
    features[position + size] = 1.0


@inner_borrowing_jit
def log_share(components: Components, base: Base, slot: int, square: float) -> float:
    """Log of size times predictive density at squared radius ``square`` (no member)."""
    count = components.population[slot]
    return components.height[slot] - depth(count, base.strength, base.degrees, square)


@inner_borrowing_jit
def depth(count: int, strength: float, degrees: float, square: float) -> float:
    """How far the log predictive density at squared radius ``square`` is below its height."""
    kappa = strength + count
    return 0.5 * (degrees + count + 1.0) * math.log1p(kappa / (kappa + 1.0) * square)


@inner_borrowing_jit
def surely_below(
    floor: float, height: float, count: int, strength: float, degrees: float, square: float
) -> bool:
    """Whether :func:`log_share` is below ``floor`` for every squared radius >= ``square``.

    First from log(1 + z) >= 2 z / (2 + z), multiplied out: neither a logarithm nor a division. That
    bound ends at degrees + count + 1, which is little for a small component; so next from
    log2(2^e m) >= e + m - 1, whose right side can be read off the number.
    """
    kappa, power = strength + count, degrees + count + 1.0
    scaled = kappa * square
    if power * scaled > (height - floor) * (2.0 * (kappa + 1.0) + scaled):
        return True
    bits = np.float64(1.0 + scaled / (kappa + 1.0)).view(np.int64)
    if power * (_HALF_LN2 * (_UNIT * bits - 1023.0)) > height - floor:
        return True
    return depth(count, strength, degrees, square) > height - floor


@inner_borrowing_jit
def log_predictive(components: Components, base: Base, slot: int, features: FloatArray) -> float:
    """Log density of a row that is no member of the component."""
    count = components.population[slot]
    value = log_share(components, base, slot, max(0.0, dot(components.form[slot], features)))
    return value - math.log(count) if count > 0 else value


@inner_borrowing_jit
def log_predictive_without(
    components: Components, base: Base, slot: int, features: FloatArray
) -> float:
    """Log density of a member given the other members (there is at least one)."""
    count = components.population[slot]
    square = max(0.0, dot(components.form[slot], features))
    return log_share_without(components, base, slot, square) - math.log(count - 1.0)


@inner_borrowing_jit
def log_share_without(components: Components, base: Base, slot: int, square: float) -> float:
    """Log of size times density for a member, as if it were absent; radius as it stands."""
    count = components.population[slot]
    kappa = base.strength + count
    ratio = max(1.0 - kappa / (kappa - 1.0) * square, _SMALLEST_RATIO)
    return (
        math.log(count - 1.0)
        + base.student[count - 1]
        - 0.5 * components.log_determinant[slot]
        + 0.5 * (base.degrees + count - 1.0) * math.log(ratio)
    )


@inner_borrowing_jit
def rebuild_form(components: Components, base: Base, slot: int) -> None:
    """Write the quadratic form and height of a component from its inverse scatter and centre."""
    count = components.population[slot]
    components.height[slot] = base.student[count] - 0.5 * components.log_determinant[slot]
    if count > 0:
        components.height[slot] += math.log(count)
    inverse, centre, form = components.inverse[slot], components.centre[slot], components.form[slot]
    size = centre.shape[0]
    position = 0
    for i in range(size):
        for j in range(i):
            form[position + j] = 2.0 * inverse[i, j]
        form[position + i] = inverse[i, i]
        position += i + 1
    constant = 0.0
    for i in range(size):
        slope = dot(inverse[i], centre)
        form[position + i] = -2.0 * slope
        constant += slope * centre[i]
    form[position + size] = constant


@inner_borrowing_jit
def refactor(components: Components, base: Base, slot: int) -> None:
    """Recompute centre, inverse and determinant of a component from its sums."""
    size = base.location.shape[0]
    moment, centre = components.moment[slot], components.centre[slot]
    kappa = base.strength + components.population[slot]
    linear = size * (size + 1) // 2
    for i in range(size):
        centre[i] = (base.strength * base.location[i] + moment[linear + i]) / kappa
    matrix = components.inverse[slot]  # the scatter, its factor, the factor's inverse, the inverse
    position = 0
    for i in range(size):
        for j in range(i + 1):
            prior = base.scatter[i, j] + base.strength * base.location[i] * base.location[j]
            matrix[i, j] = prior + moment[position + j] - kappa * centre[i] * centre[j]
        position += i + 1
    components.log_determinant[slot] = cholesky(matrix)
    invert_lower(matrix)
    square_lower(matrix)
    rebuild_form(components, base, slot)


@inner_jit
def change_member(
    components: Components,
    base: Base,
    slot: int,
    row: FloatArray,
    features: FloatArray,
    sign: float,
) -> None:
    r"""Add (sign +1.0) or remove (sign -1.0) a row by a rank-1 change of :math:`\Psi^{-1}`.

    :math:`\Psi' = \Psi \pm v v^\top` with
    :math:`v = \sqrt{\kappa/(\kappa \pm 1)}\,(x - m)`; the sums change too, and a removal that
    would lose digits is computed from them instead.
    """
    size = row.shape[0]
    kappa = base.strength + components.population[slot]
    components.population[slot] += int(sign)
    moment = components.moment[slot]
    for i in range(moment.shape[0]):
        moment[i] += sign * features[i]
    inverse, centre = components.inverse[slot], components.centre[slot]
    factor = math.sqrt(kappa / (kappa + sign))
    change, image = np.empty(size), np.empty(size)
    for i in range(size):
        change[i] = factor * (row[i] - centre[i])
    for i in range(size):
        image[i] = dot(inverse[i], change)
    square = dot(change, image)
    ratio = 1.0 + sign * square
    shrink_radii(components.shrink[slot], square, kappa, sign)
    if ratio < _UNSAFE_DOWNDATE:
        refactor(components, base, slot)
        return
    for i in range(size):
        scaled = sign * image[i] / ratio
        for j in range(size):
            inverse[i, j] -= scaled * image[j]
        centre[i] += sign * (row[i] - centre[i]) / (kappa + sign)
    components.log_determinant[slot] += math.log(ratio)
    rebuild_form(components, base, slot)


@borrowing_jit
def reset_to_prior(components: Components, base: Base, slot: int) -> None:
    """Make a slot an empty component."""
    components.population[slot] = 0
    components.moment[slot, :] = 0.0
    components.shrink[slot, 0] = 1.0
    components.shrink[slot, 1] = 0.0
    refactor(components, base, slot)


class Empty(NamedTuple):
    """Features of a component without members: the base measure, factored once."""

    inverse: FloatArray  #: (p, p)
    centre: FloatArray  #: (p,)
    form: FloatArray  #: (F,)
    log_determinant: float


@inner_borrowing_jit
def copy_empty(empty: Empty, components: Components, slot: int) -> None:
    """What :func:`reset_to_prior` does, without a factorisation; the height is left to the first
    member.
    """  # noqa: D205
    components.population[slot] = 0
    components.moment[slot, :] = 0.0
    components.log_determinant[slot] = empty.log_determinant
    copy_matrix(empty.inverse, components.inverse[slot])
    copy_vector(empty.centre, components.centre[slot])
    copy_vector(empty.form, components.form[slot])


@borrowing_jit
def recompute(
    components: Components, base: Base, rows: Rows, slots: IntArray, features: FloatArray
) -> None:
    """Rebuild every component in use from its members: rounding errors do not live long.

    ``features`` is work space for the quadratic features of a row.
    """
    for position in range(components.size[0]):
        slot = components.order[position]
        components.moment[slot, :] = 0.0
        components.population[slot] = 0
    for d in range(slots.shape[0]):
        fill_features(rows.covariates[d], features)
        moment = components.moment[slots[d]]
        for i in range(features.shape[0]):
            moment[i] += features[i]
        components.population[slots[d]] += 1
    for position in range(components.size[0]):
        refactor(components, base, components.order[position])
