r"""Newton steps to the Gaussian that diverges least from a posterior, and the algebra of a step.

A step solves for the mean with the expected Hessian and takes that Hessian for the precision. The
second half overshoots where kinks are many: a narrower Gaussian sees them as a sharper bend. Such a
step is shortened, and the next one begins with the length that did.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.observers import tell
from bayesmargin.foundation.types import FloatArray

MAX_ITERATIONS = 60
TOLERANCE = 0.02  # posterior standard deviations, far below what the sampler corrects anyway
CLOSE = 0.3  # standard deviations of a step whose outcome needs no pass to be believed
SETTLED = 1e-3  # fall of the divergence a weight that goes with such a step
LONGER = 1.5  # by which a step that was shortened is tried longer the next time
ALIKE = 3.0  # times by which a precision may change in a direction for the same
FLAT = 1e-100  # precision of a weight below which an energy counts as straight along it

Energy = tuple[float, FloatArray, FloatArray]
"""Expected energy under a Gaussian: value, gradient, Hessian."""


def inverse_factor(precision: FloatArray) -> tuple[FloatArray, float]:
    """Matrix ``F`` with ``F @ F.T = precision^-1``, and the log determinant of ``precision``.

    The matrix is scaled to unit diagonal first: features may differ by many orders of magnitude.
    One that is not positive definite is a ``LinAlgError``.
    """
    diagonal = np.diag(precision)
    if not diagonal.min() > 0.0:
        raise linalg.LinAlgError(f"a precision of {diagonal.min():.3g} is not positive")
    scale = 1.0 / np.sqrt(diagonal)
    unit = precision * scale[:, None] * scale[None, :]
    lower = linalg.cholesky(unit + 1e-12 * np.eye(len(scale)), lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(len(scale)), lower=True)
    log_det = 2.0 * float(np.sum(np.log(np.diag(lower))) - np.sum(np.log(scale)))
    return scale[:, None] * inverse.T, log_det


def _alike(precision: FloatArray, factor: FloatArray) -> bool:
    """Whether a precision differs from that of a factor by less than :data:`ALIKE` anywhere."""
    ratio = linalg.eigvalsh(factor.T @ precision @ factor)
    return bool(ratio[0] > 1.0 / ALIKE and ratio[-1] < ALIKE)


def newton(
    energy: Callable[[GaussianAnchor], Energy],
    size: int,
    start: GaussianAnchor | None = None,
    broad: FloatArray | None = None,
    tolerance: float = TOLERANCE,
    close: float = CLOSE,
) -> GaussianAnchor:
    """Newton steps on the mean and the precision; one that raises the divergence is shortened.

    ``energy`` is all that touches the rows, once a step. From a ``start`` on some of the rows the
    last step is taken without a look: what a Newton step of less than ``close`` leaves is of second
    order, if the precision hardly changes. Without one the first Gaussian has the deviations
    ``broad``, or ones, and steps end below ``tolerance`` posterior standard deviations.
    """
    broad = np.ones(size) if broad is None else broad
    anchor = start or GaussianAnchor(np.zeros(size), np.diag(broad))
    precision = linalg.inv(start.factor @ start.factor.T) if start else np.diag(broad**-2.0)
    log_det = float(np.linalg.slogdet(precision)[1])
    value, gradient, hessian = energy(anchor)
    divergence = value + 0.5 * log_det
    iterations, length = 0, 1.0
    for iterations in range(1, MAX_ITERATIONS + 1):
        length = min(1.0, LONGER * length)
        while True:
            mixed = (1.0 - length) * precision + length * hessian
            if length == 1.0 and np.diag(mixed).min() < FLAT:
                # Far out a Laplace prior is straight, and so are hinges beyond all of their kinks.
                length = 0.5
                continue
            factor, log_det = inverse_factor(mixed)
            move = -factor @ (factor.T @ gradient)
            proposal = GaussianAnchor(anchor.mean + length * move, factor, iterations)
            step = float(np.sqrt(max(0.0, -float(move @ gradient))))
            near = start is not None and length == 1.0 and step < close * np.sqrt(size)
            if near and _alike(precision, factor):
                tell(proposal.mean)
                return proposal
            if start is None and iterations == 1:
                # From the broad start the first step is that of linear discriminant analysis:
                # good before the pass that judges it. Later ones may be too long.
                tell(proposal.mean)
            value, new_gradient, new_hessian = energy(proposal)
            new_divergence = value + 0.5 * log_det
            if new_divergence <= divergence + 1e-6 * (1.0 + abs(divergence)) or length < 1e-3:
                break
            length *= 0.5
        settled = abs(divergence - new_divergence) < SETTLED * (tolerance / TOLERANCE) ** 2 * size
        anchor, precision = proposal, mixed
        tell(anchor.mean)
        gradient, hessian, divergence = new_gradient, new_hessian, new_divergence
        if step < tolerance * np.sqrt(size) and settled and length == 1.0:
            break
    return anchor
