r"""How far a Gaussian is from the law that it stands for, from gradients and energies at its draws.

Of draws :math:`u \sim N(0, I)` and an energy :math:`U`, integration by parts makes the averages of
:math:`H_k(u_j)\,\partial_j U`, with Hermite's polynomials :math:`1, u, u^2 - 1`, those of the
derivatives of :math:`\partial_j U`: the first three terms of the energy along a coordinate. To
first order the law has its mean at minus the first, the inverse of the second for a variance, and
minus the third for its skewness. The tail of the importance weights :math:`e^{-U(u) + |u|^2/2}`
says whether reweighting the draws would make up for the rest.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.base import energy

FEWEST = 25  # weights of which a tail can be looked at
FLATTEST = 1e-3  # curvature along a coordinate, in units of the Gaussian's, that is believed


class Gaps(NamedTuple):
    """Distances of a law from ``N(0, I)``, root mean squares over coordinates less chance.

    ``mean_off`` in deviations of the law, ``worst_mean`` that of the coordinate farthest off,
    ``variance_ratio`` the mean variance of the law along a coordinate, and ``skewness``.
    """

    mean_off: float
    worst_mean: float
    variance_ratio: float
    skewness: float


def gaps(draws: FloatArray, gradients: FloatArray) -> Gaps:
    """Distances from gradients of the energy at independent draws (draw, coordinate) of N(0, I).

    Examples
    --------
    A law with variance 4 and its mean at 1, so that the energy is :math:`(u - 1)^2 / 8`:

    >>> import numpy as np
    >>> from bayesmargin.diagnostics.gaussian import gaps
    >>> draws = np.random.default_rng(0).standard_normal((4000, 3))
    >>> found = gaps(draws, (draws - 1.0) / 4.0)
    >>> round(found.mean_off, 1), round(found.variance_ratio, 1), round(found.skewness, 1)
    (0.5, 4.0, 0.0)
    """
    moved = draws - draws.mean(axis=0)
    bend = np.mean(moved * gradients, axis=0) / np.mean(moved**2, axis=0)
    bend = np.maximum(bend, FLATTEST)
    rest = gradients - bend * draws  # chance has less to say where a Gaussian explains a part
    slope, slope_error = _mean(rest)
    third, third_error = _mean((draws**2 - 1.0) * (rest - slope))
    return Gaps(
        float(np.sqrt(max(0.0, np.mean((slope**2 - slope_error**2) / bend)))),
        float(np.sqrt(np.max(slope**2 / bend))),
        float(np.mean(1.0 / bend)),
        float(np.sqrt(max(0.0, np.mean((third**2 - third_error**2) / bend**3)))),
    )


def _mean(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means over draws and their standard errors."""
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))


@jit
def energies(target, positions, work, out):  # type: ignore[no-untyped-def]
    """Energies at some positions, to ``out``."""
    for k in range(positions.shape[0]):
        out[k] = energy(target, positions[k], work)


def pareto_k(log_weights: FloatArray) -> float:
    """Shape of the generalised Pareto law of the largest weights, by Zhang and Stephens (2009).

    Below 0.5 the weights have a variance; up to 0.7 they are of use; above, a few draws stand for
    nearly all of the law. ``nan`` for fewer than 25 weights.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.diagnostics.gaussian import pareto_k
    >>> uniform = np.random.default_rng(0).random(20_000)
    >>> round(pareto_k(-0.6 * np.log(uniform)), 1)
    0.6
    """
    if len(log_weights) < FEWEST:
        return float("nan")
    ordered = np.sort(log_weights)
    count = int(np.ceil(min(0.2 * len(ordered), 3.0 * np.sqrt(len(ordered)))))
    weights = np.exp(ordered[-count - 1 :] - ordered[-1])
    beyond = weights[1:] - weights[0]
    if not beyond[-1] > 0.0:
        return 0.0
    return _shape(beyond[beyond > 0.0])


def _shape(beyond: FloatArray) -> float:
    """Posterior mean of the shape on a grid of scales, drawn a little towards a half."""
    count = len(beyond)
    n_grid = 30 + int(np.sqrt(count))
    grid = 1.0 - np.sqrt(n_grid / (np.arange(n_grid) + 0.5))
    rate = grid / (3.0 * beyond[max(0, round(count / 4) - 1)]) + 1.0 / beyond[-1]
    shape = np.log1p(-rate[:, None] * beyond).mean(axis=1)
    likelihood = count * (np.log(-rate / shape) - shape - 1.0)
    share = np.exp(likelihood - likelihood.max())
    chosen = float(share @ rate / share.sum())
    found = float(np.log1p(-chosen * beyond).mean())
    return (count * found + 5.0) / (count + 10.0)
