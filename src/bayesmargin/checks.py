r"""Checks of a finished run against the target itself: Stein's identity and the gradient noise.

Because :math:`U` is Lipschitz, :math:`E[\nabla U] = 0` and :math:`E[(u_j - \bar u_j)\,\partial_j U]
= 1` hold for every coordinate under the posterior, kinks or not. A law that is too wide by a factor
:math:`v` in variance gives :math:`v` instead of one: the check sees a bias that no comparison of
chains with each other can see.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.target import Strata, Target, Workspace, estimate_gradient
from bayesmargin.types import FloatArray

WILDEST = 4.0  # error of the check, in units of what a Gaussian of as many weights would show
OPERATIONS = 4e8  # multiplications that a check may cost


class SteinCheck(NamedTuple):
    """Mean over coordinates of Stein's identity minus one, and its standard error."""

    bias: float
    error: float


@jit
def _gradients(target, positions, rng, work, out):  # type: ignore[no-untyped-def]
    for k in range(positions.shape[0]):
        estimate_gradient(target, positions[k], rng, work)
        out[k] = work.gradient


def full_batch(target: Target) -> Target:
    """The same target with every row in the batch: gradients without noise."""
    start = target.strata.start
    return target._replace(strata=Strata(start, np.diff(start)))


def _affordable(target: Target, wanted: int) -> int:
    cost = max(1.0, float(target.strata.start[-1]) * target.drift.shape[0])
    return int(min(wanted, max(8, OPERATIONS / cost)))


def stein_check(
    target: Target,
    draws: FloatArray,
    work: Workspace,
    rng: np.random.Generator,
    centre: FloatArray | None = None,
) -> SteinCheck:
    """Stein's identity on draws (chain, draw, coordinate), with full-data gradients.

    ``centre`` is the mean of all draws, where those given are only some of them.
    """
    flat = draws.reshape(-1, draws.shape[-1])
    count = _affordable(target, min(400, len(flat)))
    chosen = np.ascontiguousarray(flat[np.linspace(0, len(flat) - 1, count).astype(int)])
    gradients = np.empty_like(chosen)
    mean = flat.mean(axis=0) if centre is None else centre
    _gradients(full_batch(target), chosen, rng, work, gradients)
    products = np.einsum("ij,ij->i", chosen - mean, gradients) / flat.shape[1]
    error = float(products.std() / np.sqrt(count))
    # Draws of a sound chain scatter by chance alone; wilder ones are no excuse for a bias.
    chance = float(np.sqrt(2.0 / (count * flat.shape[1])))
    return SteinCheck(float(products.mean() - 1.0), min(error, WILDEST * chance))


def gradient_noise(
    target: Target, draws: FloatArray, work: Workspace, rng: np.random.Generator
) -> float:
    """Measured variance of the gradient estimate, mean over coordinates and a few draws."""
    sizes = np.diff(target.strata.start)
    if np.all(target.strata.take == sizes):
        return 0.0
    flat = draws.reshape(-1, draws.shape[-1])
    places = np.ascontiguousarray(flat[np.linspace(0, len(flat) - 1, 8).astype(int)])
    repeats = 40 if flat.shape[1] < 10_000 else 4
    exact, noisy = np.empty_like(places), np.empty((repeats, flat.shape[1]))
    _gradients(full_batch(target), places, rng, work, exact)
    total = 0.0
    for place, truth in zip(places, exact, strict=True):
        _gradients(target, np.repeat(place[None], repeats, axis=0), rng, work, noisy)
        total += float(np.mean((noisy - truth) ** 2))
    return total / len(places)
