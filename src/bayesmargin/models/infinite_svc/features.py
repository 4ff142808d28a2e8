"""What a component knows of its members' covariates: the parts that depend on the covariance.

Generic functions of the base measure. :mod:`.correlated` has their bodies for :class:`.Base`,
:mod:`.uncorrelated` for :class:`.UncorrelatedBase`; :mod:`.gaussian` makes densities of them.
"""

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.state import Base, Components


def _missing(base: Base) -> TypeError:
    return TypeError(f"{type(base).__name__} is not a base measure")


def fill_features(base: Base, row: FloatArray, features: FloatArray) -> None:
    """Features of a row, whose sum over the members is all that is kept of them."""
    raise _missing(base)


def log_growth(
    base: Base, form: FloatArray, slot: int, features: FloatArray, factor: float
) -> tuple[float, float]:
    r"""Squared radius q of a row, and :math:`\log(1 + \text{factor}\, q)` or a sum over columns.

    That is what the row would add to :math:`\log|\Psi|` by joining or by leaving, see
    :func:`~bayesmargin.models.infinite_svc.gaussian.joining` for the factor.
    """
    raise _missing(base)


def write_form(base: Base, components: Components, slot: int) -> None:
    """What radii need of a component, in the order of the features, from inverse and centre."""
    raise _missing(base)


def invert_scatter(base: Base, components: Components, slot: int) -> None:
    """Centre, inverse and determinant of a component's scatter from the sums of features."""
    raise _missing(base)


def change_scatter(
    base: Base, components: Components, slot: int, row: FloatArray, kappa: float, sign: float
) -> bool:
    r"""Let a row join (sign +1.0) or leave (sign -1.0): :math:`\Psi' = \Psi \pm v v^\top`.

    Here :math:`v = \sqrt{\kappa/(\kappa \pm 1)}\,(x - m)`, and ``kappa`` is the strength of the
    centre before. False where rounding would leave too few digits.
    """
    raise _missing(base)
