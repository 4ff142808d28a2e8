r"""Random variates that NumPy lacks inside compiled code, and the one way seeds are spawned.

Every source of randomness in the package is an explicit :class:`numpy.random.Generator`. A fit
spawns one generator a chain from its ``random_state``, so the draws do not depend on the number of
threads.
"""

import math
import numbers
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import inner_jit

# Exact in single precision, so that they leave the precision of what they meet as it is.
_HALF: Any = np.float32(0.5)
_ONE: Any = np.float32(1.0)
_TWO: Any = np.float32(2.0)
_SMALLEST: Any = np.float32(2.0**-40)


def spawn_generators(
    random_state: int | np.random.Generator | np.random.RandomState | None, count: int
) -> list[np.random.Generator]:
    """Independent generators from one seed: a function of the seed and of ``count`` alone.

    Examples
    --------
    >>> from bayesmargin.foundation.random import spawn_generators
    >>> first, second = spawn_generators(7, 2)
    >>> first.integers(100), second.integers(100)
    (np.int64(30), np.int64(68))
    """
    if isinstance(random_state, np.random.Generator):
        return list(random_state.spawn(count))
    if isinstance(random_state, np.random.RandomState):
        seed: int | None = int(random_state.randint(2**31))
    elif random_state is None or isinstance(random_state, numbers.Integral):
        seed = None if random_state is None else int(random_state)
    else:
        raise ValueError(
            f"random_state={random_state!r} is not allowed: pass None, a non-negative integer, "
            "a numpy.random.Generator or a numpy.random.RandomState"
        )
    if seed is not None and seed < 0:
        raise ValueError(f"random_state={seed} is not allowed: an integer seed is 0 or more")
    children = np.random.SeedSequence(seed).spawn(count)
    return [np.random.Generator(np.random.PCG64(child)) for child in children]


def spawn_seeds(rng: np.random.Generator, count: int) -> list[Any]:
    """Independent seeds from a generator, whose own draws stay what they are.

    They are for tasks that make their generators where they run, and again if they have to.
    """
    return list(rng.bit_generator.seed_seq.spawn(count))  # type: ignore[attr-defined]


@inner_jit
def inverse_gaussian_from(square: float, uniform: float, mean: float) -> float:
    r"""Inverse Gaussian of shape 1 and finite mean, from a squared normal and a uniform variate.

    The method of Michael, Schucany and Haas in a form without cancellation: with
    :math:`w = m\nu^2/2` and :math:`q = 1 + w + \sqrt{w(w+2)}` the two roots are :math:`m/q` and
    :math:`mq`, and the larger is taken with probability :math:`1/(1+q)`: a small number, of which a
    small ``uniform`` resolves more than one close to 1 does. There is no branch, so that loops over
    many rows are vectorised, in the precision of the arguments.
    """
    w = _HALF * mean * square
    q = _ONE + w + math.sqrt(w * (w + _TWO))
    value: float = mean * q if uniform * (_ONE + q) < _ONE else mean / q
    return value


@inner_jit
def inverse_gaussian(rng: np.random.Generator, mean: float, shape: float) -> float:
    r"""One draw of the inverse Gaussian with density
    :math:`\sqrt{k/(2\pi x^3)}\,\exp(-k (x-m)^2 / (2 m^2 x))`.

    An infinite mean gives the limit law :math:`k/\nu^2`.
    """  # noqa: D205
    normal = rng.standard_normal()
    if mean > 1e100 * shape:
        return shape / (normal * normal)
    return shape * inverse_gaussian_from(normal * normal, rng.random(), mean / shape)


@inner_jit
def augmentation_mean(cost: float, slack: float) -> float:
    r"""Mean :math:`2/(c|\zeta|)` of the law of :func:`augmentation_precision`, kept finite."""
    mean: float = _TWO / max(cost * abs(slack), _SMALLEST)
    return mean


@inner_jit
def augmentation_precision(rng: np.random.Generator, cost: float, slack: float) -> float:
    r"""Draw :math:`1/\lambda \sim IG(2/(c|\zeta|), 1)`, which makes the hinge Gaussian.

    From :math:`e^{-c(\zeta)_+} = \int_0^\infty (2\pi\lambda)^{-1/2}
    e^{-(\lambda + c\zeta/2)^2/(2\lambda)}\,d\lambda`.
    """
    return inverse_gaussian(rng, augmentation_mean(cost, slack), 1.0)
