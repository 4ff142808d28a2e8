"""Do two sets of draws come from one posterior? Differences in units of their own error."""

from typing import NamedTuple

import numpy as np

from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.foundation.types import FloatArray


def monte_carlo_error(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean over draws (chain, draw, ...) and its standard error from the effective sample size."""
    size = effective_sample_size(draws)
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)) / np.sqrt(size)


def moment_scores(draws: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Standard scores of first and centred second moments against known ones: (2, coordinate)."""
    _require_chains(draws)
    first, first_error = monte_carlo_error(draws)
    second, second_error = monte_carlo_error((draws - mean) ** 2)
    return np.stack([(first - mean) / first_error, (second - variance) / second_error])


def _require_chains(draws: FloatArray) -> None:
    if np.ndim(draws) != 3:
        raise ValueError(
            f"draws of shape {np.shape(draws)} are not allowed: the axes are (chain, draw, "
            "weight); the draws of one chain are passed as draws[None]"
        )


class Agreement(NamedTuple):
    """Two-sampler agreement: standard scores, their largest values, relative differences.

    ``mean_scores`` and ``variance_scores`` are differences over their combined standard errors;
    ``mean_shift`` is in posterior standard deviations and ``variance_ratio`` first over second.
    """

    mean_scores: FloatArray
    variance_scores: FloatArray
    mean_shift: FloatArray
    variance_ratio: FloatArray

    @property
    def worst(self) -> float:
        """Largest absolute standard score of a mean."""
        return float(np.abs(self.mean_scores).max())

    def agrees(self, limit: float = 4.0) -> bool:
        """Whether every mean and variance lies within ``limit`` combined standard errors."""
        return self.worst < limit and float(np.abs(self.variance_scores).max()) < limit


def agreement(first: FloatArray, second: FloatArray) -> Agreement:
    """Compare two sets of draws (chain, draw, weight) of one posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.validation import agreement
    >>> rng = np.random.default_rng(0)
    >>> one, other = rng.standard_normal((2, 4, 500, 3))
    >>> agreement(one, other).agrees()
    True
    """
    _require_chains(first)
    _require_chains(second)
    if first.shape[2] != second.shape[2]:
        raise ValueError(
            f"draws of {first.shape[2]} and of {second.shape[2]} weights do not compare"
        )
    centre = 0.5 * (first.mean(axis=(0, 1)) + second.mean(axis=(0, 1)))
    mean_a, error_a = monte_carlo_error(first)
    mean_b, error_b = monte_carlo_error(second)
    square_a, spread_a = monte_carlo_error((first - centre) ** 2)
    square_b, spread_b = monte_carlo_error((second - centre) ** 2)
    deviation = np.sqrt(0.5 * (first.var(axis=(0, 1)) + second.var(axis=(0, 1))))
    return Agreement(
        mean_scores=(mean_a - mean_b) / np.hypot(error_a, error_b),
        variance_scores=(square_a - square_b) / np.hypot(spread_a, spread_b),
        mean_shift=(mean_a - mean_b) / deviation,
        variance_ratio=first.var(axis=(0, 1)) / second.var(axis=(0, 1)),
    )
