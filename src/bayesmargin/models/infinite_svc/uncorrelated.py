r"""Gaussians whose columns are independent: a mean and a variance for each column.

Every column has a law of its own, that of :mod:`.correlated` for a single column, and the
predictive density is the product of them,

.. math::

   \log t(x) = p\,S_n - \tfrac12 \sum_j \log\psi_j
      - \tfrac{\nu+1}{2}\sum_j\log\!\Big(1 + \tfrac{\kappa}{\kappa+1}\, q_j\Big), \qquad
   q_j = (x_j - m_j)^2 / \psi_j .

The features of a row are :math:`(x_j^2, x_j, 1)`. The form of a component holds :math:`1/\psi_j`
and :math:`m_j` in the same places, so a density takes p multiplications where a covariance takes
:math:`p^2/2`. As :math:`\prod_j (1 + c q_j) \ge 1 + c \sum_j q_j`, the squared radius
:math:`q = \sum_j q_j` bounds the density as it does that of a single quadratic form.
"""

import math

from bayesmargin.foundation.compiling import implements
from bayesmargin.models.infinite_svc.features import (
    change_scatter,
    fill_features,
    invert_scatter,
    log_growth,
    write_form,
)
from bayesmargin.models.infinite_svc.radii import shrink_radii
from bayesmargin.models.infinite_svc.state import UncorrelatedBase

_UNSAFE_DOWNDATE = 1e-7
# Columns whose factors are multiplied before a logarithm is taken, and where a product may have
# lost its digits. Then factors are taken one by one, within a range: rows ten billion prior
# deviations away are all equally far, and one that is that far from the rest of its component is
# lost to rounding.
_BLOCK, _SMALL, _LARGE = 64, 1e-30, 1e250
_LEAST, _MOST = 1e-10, 1e20


@implements(fill_features, UncorrelatedBase, borrows=True)
def fill_squares(base, row, features):  # type: ignore[no-untyped-def] # noqa: D103
    size = row.shape[0]
    for j in range(size):
        features[j] = row[j] * row[j]
        features[size + j] = row[j]
    features[2 * size] = 1.0


@implements(log_growth, UncorrelatedBase, borrows=True)
def log_product(base, form, slot, features, factor):  # type: ignore[no-untyped-def] # noqa: D103
    size = features.shape[0] // 2
    square = total = 0.0
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        product = 1.0
        for j in range(begin, end):
            gap = features[size + j] - form[slot, size + j]
            part = form[slot, j] * gap * gap
            square += part
            product *= 1.0 + factor * part
        if _SMALL < product < _LARGE:
            total += math.log(product)
        else:
            for j in range(begin, end):
                part = form[slot, j] * (features[size + j] - form[slot, size + j]) ** 2
                total += math.log(min(max(1.0 + factor * part, _LEAST), _MOST))
    return square, total


@implements(write_form, UncorrelatedBase, borrows=True)
def write_columns(base, components, slot):  # type: ignore[no-untyped-def] # noqa: D103
    centre, form = components.centre[slot], components.form[slot]
    size = centre.shape[0]
    for j in range(size):
        form[j] = components.inverse[slot, 0, j]
        form[size + j] = centre[j]
    form[2 * size] = 0.0


@implements(invert_scatter, UncorrelatedBase, borrows=True)
def invert_columns(base, components, slot):  # type: ignore[no-untyped-def] # noqa: D103
    moment, centre = components.moment[slot], components.centre[slot]
    kappa, size = base.strength + components.population[slot], centre.shape[0]
    log_determinant = 0.0
    for j in range(size):
        centre[j] = (base.strength * base.location[j] + moment[size + j]) / kappa
        prior = base.scatter[j, j] + base.strength * base.location[j] ** 2
        scatter = max(prior + moment[j] - kappa * centre[j] ** 2, base.scatter[j, j])
        components.inverse[slot, 0, j] = 1.0 / scatter
        log_determinant += math.log(scatter)
    components.log_determinant[slot] = log_determinant


@implements(change_scatter, UncorrelatedBase, borrows=True)
def change_columns(base, components, slot, row, kappa, sign):  # type: ignore[no-untyped-def] # noqa: D103
    inverse, centre = components.inverse[slot, 0], components.centre[slot]
    factor = kappa / (kappa + sign)
    total = largest = 0.0
    for j in range(row.shape[0]):
        square = factor * inverse[j] * (row[j] - centre[j]) ** 2
        total += square
        largest = max(largest, square)
    shrink_radii(components.shrink[slot], total, largest, kappa, sign)
    if 1.0 + sign * largest < _UNSAFE_DOWNDATE:
        return False
    log_ratio = 0.0
    for j in range(row.shape[0]):
        gap = row[j] - centre[j]
        ratio = 1.0 + sign * factor * inverse[j] * gap * gap
        log_ratio += math.log(ratio)
        inverse[j] /= ratio
        centre[j] += sign * gap / (kappa + sign)
    components.log_determinant[slot] += log_ratio
    return True
