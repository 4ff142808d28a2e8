r"""Gaussians with any covariance: a quadratic form for every component, and its rank-1 changes.

The squared radius :math:`q = (x-m)^\top \Psi^{-1} (x-m)` is a single inner product with the
features :math:`(x_i x_j, x_i, 1)` of the row, whose sums are at the same time the sufficient
statistics.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.linear_algebra import cholesky, dot, dot_row, invert_lower, square_lower
from bayesmargin.models.infinite_svc.features import (
    change_scatter,
    fill_features,
    invert_scatter,
    log_growth,
    write_form,
)
from bayesmargin.models.infinite_svc.radii import shrink_radii
from bayesmargin.models.infinite_svc.state import Base

# A leave-one-out determinant ratio below this is lost to rounding (the row is some 1e5 standard
# deviations away from the rest of its component).
_SMALLEST_RATIO = 1e-10
_UNSAFE_DOWNDATE = 1e-7


@implements(fill_features, Base, borrows=True)
def fill_products(base, row, features):  # type: ignore[no-untyped-def] # noqa: D103
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


@implements(log_growth, Base, borrows=True)
def log_of_square(base, form, slot, features, factor):  # type: ignore[no-untyped-def] # noqa: D103
    square = max(0.0, dot_row(form, slot, features))
    return square, math.log(max(1.0 + factor * square, _SMALLEST_RATIO))


@implements(write_form, Base, borrows=True)
def write_quadratic_form(base, components, slot):  # type: ignore[no-untyped-def] # noqa: D103
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


@implements(invert_scatter, Base, borrows=True)
def invert_matrix(base, components, slot):  # type: ignore[no-untyped-def] # noqa: D103
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


@implements(change_scatter, Base)
def change_inverse(base, components, slot, row, kappa, sign):  # type: ignore[no-untyped-def] # noqa: D103
    size = row.shape[0]
    inverse, centre = components.inverse[slot], components.centre[slot]
    factor = math.sqrt(kappa / (kappa + sign))
    change, image = np.empty(size), np.empty(size)
    for i in range(size):
        change[i] = factor * (row[i] - centre[i])
    for i in range(size):
        image[i] = dot(inverse[i], change)
    square = dot(change, image)
    ratio = 1.0 + sign * square
    shrink_radii(components.shrink[slot], square, square, kappa, sign)
    if ratio < _UNSAFE_DOWNDATE:
        return False
    for i in range(size):
        scaled = sign * image[i] / ratio
        for j in range(size):
            inverse[i, j] -= scaled * image[j]
        centre[i] += sign * (row[i] - centre[i]) / (kappa + sign)
    components.log_determinant[slot] += math.log(ratio)
    return True
