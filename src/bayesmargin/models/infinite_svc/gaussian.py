r"""Collapsed Normal-inverse-Wishart features: predictive density, and members that come and go.

With :math:`n` members, :math:`\kappa = \kappa_0 + n`, :math:`\nu = \nu_0 + n` and
:math:`q = (x-m)^\top \Psi^{-1} (x-m)` the predictive density of a further row is

.. math::

   \log t(x) = S_n - \tfrac12 \log|\Psi|
      - \tfrac{\nu+1}{2}\log\!\Big(1 + \tfrac{\kappa}{\kappa+1}\, q\Big),

where :math:`S_n` depends on the size alone and sits in a table. A member is judged as if it were
absent without being removed: with :math:`q` taken at the full component and
:math:`r = 1 - \tfrac{\kappa}{\kappa-1} q`,

.. math:: \log t_{-d}(x_d) = S_{n-1} - \tfrac12\log|\Psi| + \tfrac{\nu-1}{2} \log r,

because :math:`|\Psi_{-d}| = r |\Psi|` and :math:`1 + \tfrac{\kappa-1}{\kappa} q_{-d} = 1/r`. So a
row that stays where it is costs no update at all.

Covariances are free (:mod:`.correlated`), or columns are independent (:mod:`.uncorrelated`). Then
the determinant is a product over columns, and so are :math:`1 + \tfrac{\kappa}{\kappa+1} q` and
:math:`r`; all else is the same.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

# The bodies of the generic functions. Not by way of the package, whose head imports the estimator:
# machine code would then be made anew whenever that changes.
import bayesmargin.models.infinite_svc.correlated
import bayesmargin.models.infinite_svc.uncorrelated  # noqa: F401
from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit, inner_jit
from bayesmargin.foundation.copying import copy_matrix, copy_vector
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.features import (
    change_scatter,
    fill_features,
    invert_scatter,
    log_growth,
    write_form,
)
from bayesmargin.models.infinite_svc.state import Base, Components, Rows

# Bits of a positive number, times 2^-52, are its exponent (from 1023) and what it is above 2^e.
_UNIT = 2.0**-52
_HALF_LN2 = 0.5 * math.log(2.0) * (1.0 - 1e-12)  # rounded to the safe side


def student_table(
    dimension: int, strength: float, degrees: float, rows: int, diagonal: bool = False
) -> FloatArray:
    """Constants S_n of the predictive density for component sizes 0 .. rows."""
    if diagonal:
        return dimension * student_table(1, strength, degrees, rows)
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
def joining(count: float, strength: float) -> float:
    """Factor of q for a row that is no member: kappa / (kappa + 1)."""
    kappa = strength + count
    return kappa / (kappa + 1.0)


@inner_borrowing_jit
def leaving(count: float, strength: float) -> float:
    """Factor of q for a member: -kappa / (kappa - 1)."""
    kappa = strength + count
    return -kappa / (kappa - 1.0)


@inner_borrowing_jit
def log_share(components: Components, base: Base, slot: int, growth: float) -> float:
    """Log of size times predictive density of a row that would make log det Psi ``growth`` more."""
    power = 0.5 * (base.degrees + components.population[slot] + 1.0)
    return components.height[slot] - power * growth


@inner_borrowing_jit
def log_share_of(components: Components, base: Base, slot: int, features: FloatArray) -> float:
    """The same, from the features of a row that is no member."""
    factor = joining(components.population[slot], base.strength)
    _, growth = log_growth(base, components.form, slot, features, factor)
    return log_share(components, base, slot, growth)


@inner_borrowing_jit
def surely_below(
    floor: float, height: float, count: int, strength: float, degrees: float, square: float
) -> bool:
    """Whether the log share of a row that is no member is below ``floor`` if its q >= ``square``.

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
    return 0.5 * power * math.log1p(joining(count, strength) * square) > height - floor


@inner_borrowing_jit
def log_predictive(components: Components, base: Base, slot: int, features: FloatArray) -> float:
    """Log density of a row that is no member of the component."""
    count = components.population[slot]
    value = log_share_of(components, base, slot, features)
    return value - math.log(count) if count > 0 else value


@inner_borrowing_jit
def log_share_without(components: Components, base: Base, slot: int, growth: float) -> float:
    """Log of size times density for a member, as if it were absent; ``growth`` by its leaving."""
    count = components.population[slot]
    return (
        math.log(count - 1.0)
        + base.student[count - 1]
        - 0.5 * components.log_determinant[slot]
        + 0.5 * (base.degrees + count - 1.0) * growth
    )


@inner_borrowing_jit
def log_share_of_member(
    components: Components, base: Base, slot: int, features: FloatArray
) -> float:
    """The same, from the features of the member."""
    factor = leaving(components.population[slot], base.strength)
    _, growth = log_growth(base, components.form, slot, features, factor)
    return log_share_without(components, base, slot, growth)


@inner_borrowing_jit
def _write_density(components: Components, base: Base, slot: int) -> None:
    """What a density needs, form and height of a component, from inverse scatter and centre."""
    count = components.population[slot]
    components.height[slot] = base.student[count] - 0.5 * components.log_determinant[slot]
    if count > 0:
        components.height[slot] += math.log(count)
    write_form(base, components, slot)


@inner_borrowing_jit
def refactor(components: Components, base: Base, slot: int) -> None:
    """Recompute all that is known of a component from its sums."""
    invert_scatter(base, components, slot)
    _write_density(components, base, slot)


@inner_jit
def change_member(
    components: Components,
    base: Base,
    slot: int,
    row: FloatArray,
    features: FloatArray,
    sign: float,
) -> None:
    """Add (sign +1.0) or remove (sign -1.0) a row; its ``features`` are those of the row.

    A removal that would lose digits is computed from the sums instead.
    """
    kappa = base.strength + components.population[slot]
    components.population[slot] += int(sign)
    moment = components.moment[slot]
    for i in range(moment.shape[0]):
        moment[i] += sign * features[i]
    if change_scatter(base, components, slot, row, kappa, sign):
        _write_density(components, base, slot)
    else:
        refactor(components, base, slot)


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

    inverse: FloatArray  #: (p, p), or (1, p)
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

    ``features`` is work space for those of a row.
    """
    for position in range(components.size[0]):
        slot = components.order[position]
        components.moment[slot, :] = 0.0
        components.population[slot] = 0
    for d in range(slots.shape[0]):
        fill_features(base, rows.covariates[d], features)
        moment = components.moment[slots[d]]
        for i in range(features.shape[0]):
            moment[i] += features[i]
        components.population[slots[d]] += 1
    for position in range(components.size[0]):
        refactor(components, base, components.order[position])
