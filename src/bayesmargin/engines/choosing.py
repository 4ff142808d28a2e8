"""Which engine samples a linear model; JAX is imported only where it may be the answer."""

import importlib.util
from typing import Any

import numpy as np

from bayesmargin.engines.shapes import is_head
from bayesmargin.foundation.arguments import require_choice
from bayesmargin.samplers.base import Sampler

ENGINES = ("auto", "numba", "jax")
PRIORS = ("gaussian", "laplace")  # that the array engine knows
LARGE = 1e9  # products of a gradient of all rows from which a GPU is worth its compilations
MANY_SCORES = 1e12  # products of scores from which a GPU is worth the way there
MANY_SLACKS = 2e8  # scores of all rows and draws from which calibration takes longer than loading


def require_engine(engine: Any) -> None:
    """Raise a clear error for an engine that is not known."""
    require_choice("engine", engine, ENGINES)


def has_jax() -> bool:
    """Whether JAX is installed."""
    return importlib.util.find_spec("jax") is not None


def sampler_for(engine: str, sampler: Sampler, values: Any, n_scores: int, prior: str) -> Sampler:
    """The sampler itself, or one that runs it in JAX.

    ``engine="auto"`` takes JAX where it finds a GPU, the data are large and dense, and the sampler
    is one that the array engine knows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.choosing import sampler_for
    >>> from bayesmargin.samplers import Auto
    >>> sampler_for("auto", Auto(), np.eye(3), 1, "gaussian")
    Auto()
    """
    if engine == "numba":
        return sampler
    dense = isinstance(values, np.ndarray)
    if engine == "auto":
        work = float(values.size) * n_scores if dense else 0.0
        known = prior in PRIORS and has_jax()
        if work < LARGE or not known or not _has_gpu():
            return sampler
    elif not has_jax():
        raise ValueError(
            'engine="jax" needs JAX, which is not installed: install bayesmargin[jax], or use '
            'engine="numba"'
        )
    elif not dense:
        raise ValueError('engine="jax" reads dense rows in memory alone: use engine="numba"')
    from bayesmargin.engines.samplers import ArraySampler, unknown

    if isinstance(sampler, ArraySampler) or (engine == "auto" and unknown(sampler)):
        return sampler
    heads = is_head(n_scores, values.shape[1]) and _has_gpu()
    return ArraySampler(sampler, "bfloat16" if heads else "float32")


def worth_a_device(values: Any, coef: Any) -> bool:
    """Whether scores of rows under many draws (draw, block, feature) should come from a GPU."""
    dense = isinstance(values, np.ndarray)
    work = float(values.shape[0]) * coef.size if dense else 0.0
    return work >= MANY_SCORES and has_jax() and _has_gpu()


def worth_slacks(values: Any, n_scores: int) -> bool:
    """Whether slacks of rows that have so many scores, draws together, should come from a GPU."""
    return n_scores >= MANY_SLACKS and isinstance(values, np.ndarray) and has_jax() and _has_gpu()


def _has_gpu() -> bool:
    import jax

    return bool(jax.default_backend() == "gpu")
