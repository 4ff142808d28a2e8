"""How stiff the stiffest direction of a wide problem is in its coordinates.

Where no directions are undone (more than two classes) a step has to suit the stiffest of them. Its
eigenvalue comes from the power method, with differences of gradients for products with the Hessian.
"""

import numpy as np

from bayesmargin.approximation.wide import Passes, WideAnchor
from bayesmargin.foundation.types import FloatArray
from bayesmargin.rows.blocks import one_blas_thread
from bayesmargin.targets.coordinates import Scaled, Sheared, Spiked, fill_gradient, weights_from
from bayesmargin.targets.problem import Problem

TURNS = 10  # of the power method, a pass over the rows each
SMALL = 0.1  # length of the displacement, in posterior standard deviations


def stiffest(
    problem: Problem,
    anchor: WideAnchor,
    coordinates: Scaled | Sheared | Spiked,
    rng: np.random.Generator,
) -> float:
    """Largest eigenvalue of the smoothed Hessian at the anchor; one where the scale is right."""
    passes = Passes(problem)

    def force(position: FloatArray) -> FloatArray:
        there, pulled = weights_from(coordinates, position), np.empty_like(position)
        gradient = passes.energy(there, anchor.scale, anchor.deviation)[1]
        fill_gradient(coordinates, gradient, pulled)
        return pulled

    direction, value = rng.standard_normal(anchor.mean.size), 1.0
    with one_blas_thread():
        rest = force(np.zeros_like(direction))
        for _ in range(TURNS):
            direction *= SMALL / np.linalg.norm(direction)
            direction = (force(direction) - rest) / SMALL
            value = float(np.linalg.norm(direction))
    return value
