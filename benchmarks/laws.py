"""Two sets of draws of one posterior: how far means and variances lie apart, beyond chance."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.validation.agreement import monte_carlo_error

MEANS, VARIANCES = 0.05, 0.03


class Apart(NamedTuple):
    """Root mean square of the differences of means, in sd, beyond the Monte Carlo error of both.

    With it that error, the mean relative difference of variances, and its own Monte Carlo error,
    weights taken for independent.
    """

    means: float
    chance: float
    variances: float
    doubt: float

    @property
    def met(self) -> bool:
        """Whether these are one law, as far as the bounds of this project go."""
        return self.means < MEANS and abs(self.variances) < VARIANCES


def apart(truth: np.ndarray, draws: np.ndarray) -> Apart:
    """Compare draws (chain, draw, weight) with those of a reference."""
    centre, centre_error = monte_carlo_error(truth)
    mean, error = monte_carlo_error(draws)
    scale = truth.std(axis=(0, 1))
    chance = np.mean((np.hypot(centre_error, error) / scale) ** 2)
    off = np.mean(((mean - centre) / scale) ** 2)
    ratio = float(np.mean((draws.std(axis=(0, 1)) / scale) ** 2))
    doubt = np.hypot(_doubt(truth), _doubt(draws)) / np.sqrt(len(scale))
    means = float(np.sqrt(max(0.0, off - chance)))
    return Apart(means, float(np.sqrt(chance)), ratio - 1.0, float(doubt))


def _doubt(draws: np.ndarray) -> float:
    """Relative Monte Carlo error of a variance, root mean square over weights."""
    square, error = monte_carlo_error((draws - draws.mean(axis=(0, 1))) ** 2)
    return float(np.sqrt(np.mean((error / square) ** 2)))


def contrasts(model: Any) -> np.ndarray:
    """Draws (chain, draw, weight), intercepts included, of what the data speak of.

    Where classes share a hinge that is each class less the mean of all.
    """
    draws = model.posterior_["coef"], model.posterior_["intercept"][..., None]
    table = np.concatenate(draws, axis=-1).astype(float)
    if table.ndim == 4 and model.multi_class == "crammer_singer":
        table -= table.mean(axis=2, keepdims=True)
    return table.reshape(*table.shape[:2], -1)
