r"""Noise that a step adds to the momentum: less where the noise of batches does it already.

A gradient estimate of variance :math:`V_j` kicks the momentum by noise of variance
:math:`h^2 V_j`. Along what data determine it is much, along what only the prior does it is none at
all, whereas one friction, fixed or a thermostat, wants the same from everywhere: otherwise it
leaves some directions too warm and others too cold. So a step injects the difference,

.. math:: \sigma_j^2 = \sigma^2 - h^2 (V_j - V^*),

with :math:`V^*` the mean of :math:`V` for a thermostat, which finds the level by itself, and 0 for
a friction that is given.

:math:`V_j` is the median over some positions: what is there nearly everywhere. A row with a huge
value in one column is a wall, and brings noise only near it; the mean of that, taken away
everywhere, would leave the column cold and its weight stuck. For the same reason no more than a
quarter of the noise is ever taken away, which is more than batches of the default size bring.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.noise import fill_noise
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.base import project

LEAST = 0.75  # share of its variance that is injected at least, however noisy the gradient


class Alike(NamedTuple):
    """The same standard deviation in every coordinate."""

    deviation: float


class Balanced(NamedTuple):
    """A standard deviation for each coordinate, the same for all vectors of a contrast."""

    deviation: FloatArray

    def __repr__(self) -> str:
        return f"Balanced({self.deviation.min():.3g} to {self.deviation.max():.3g})"


def inject(injection: Any, space: Any, source: Any, noise: FloatArray) -> None:
    """Fill ``noise`` with what the directions of a space receive at a step (generic, compiled)."""
    raise TypeError(f"{type(injection).__name__} is not an injection of noise")


@implements(inject, Alike, borrows=True)
def _inject_alike(injection, space, source, noise):  # type: ignore[no-untyped-def]
    fill_noise(source, noise)
    project(space, noise)
    for j in range(noise.shape[0]):
        noise[j] *= injection.deviation


@implements(inject, Balanced, borrows=True)
def _inject_balanced(injection, space, source, noise):  # type: ignore[no-untyped-def]
    fill_noise(source, noise)
    project(space, noise)
    for j in range(noise.shape[0]):
        noise[j] *= injection.deviation[j]


def injected(variance: float, step: float, surplus: FloatArray | None) -> Alike | Balanced:
    """Noise of a given variance, less what the gradient estimate adds to it.

    Parameters
    ----------
    variance : float
        What every coordinate is to receive at a step.
    step : float
        Step :math:`h`.
    surplus : array of shape (n_coordinates,) or None
        Variance of the gradient estimate beyond that which friction takes care of.
    """
    if surplus is None:
        return Alike(float(np.sqrt(variance)))
    own = np.maximum(variance - step**2 * surplus, LEAST * variance)
    return Balanced(np.sqrt(own))
