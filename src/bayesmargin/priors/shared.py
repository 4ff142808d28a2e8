r"""What all classes share, which no hinge of several classes sees: its law under the prior.

Adding a vector :math:`m` to the weights of every class changes no difference of scores. Under a
Gaussian prior :math:`N(\mu, \Lambda^{-1})` its law given the weights is known, whatever the data:

.. math:: m \mid w \sim N\Big({-P^{-1}} \sum_l A_l (w_l - \mu_l),\; P^{-1}\Big), \qquad
          A_l = \sum_k \Lambda_{kl}, \quad P = \sum_l A_l .

So a sampler may leave it out. It moves *contrasts*, weights whose shift has mean zero, and every
draw receives a shift of its own in the end. A thermostat gains more than time by it: it takes the
gradient noise to be equal in all directions, and along :math:`m` there is none, so that this part
came out too narrow and the contrasts too wide.
"""

import math

import numpy as np
from scipy import linalg

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief, GaussianBelief


class SharedPart:
    """The law of what is common to all classes, for a Gaussian prior."""

    def __init__(self, prior: GaussianBelief, n_classes: int) -> None:
        self.precision = prior.precision
        self.mean = prior.mean.reshape(n_classes, -1)
        size = self.mean.shape[1]
        if prior.precision.ndim == 1:
            self.pull = prior.precision.reshape(n_classes, size)
            self.deviation = 1.0 / np.sqrt(self.pull.sum(axis=0))
        else:
            table = prior.precision.reshape(n_classes, size, n_classes, size)
            self.pull = table.sum(axis=0).transpose(1, 0, 2)
            lower = linalg.cholesky(self.pull.sum(axis=0), lower=True)
            self.deviation = linalg.solve_triangular(lower, np.eye(size), lower=True).T

    def less_shift(self, table: FloatArray) -> FloatArray:
        """Deviations from the prior mean (..., class, feature) less their mean shift."""
        if self.pull.ndim == 2:
            shift = np.einsum("lj,...lj->...j", self.pull, table) * self.deviation**2
        else:
            pulled = np.einsum("lij,...lj->...i", self.pull, table)
            shift = pulled @ self.deviation @ self.deviation.T
        return table - shift[..., None, :]

    def removed(self, weights: FloatArray) -> FloatArray:
        """Weights (last axis) whose shift is at its mean: those that belong to the contrasts."""
        table = weights.reshape(*weights.shape[:-1], *self.mean.shape)
        return (self.mean + self.less_shift(table - self.mean)).reshape(weights.shape)

    def noise(self, rng: np.random.Generator, *shape: int) -> FloatArray:
        """Shifts about their mean."""
        noise = rng.standard_normal((*shape, self.mean.shape[1]))
        return noise * self.deviation if self.pull.ndim == 2 else noise @ self.deviation.T

    def redrawn(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The same contrasts with shifts drawn afresh."""
        noise = self.noise(rng, *weights.shape[:-1])
        result = self.removed(weights)
        result.reshape(*noise.shape[:-1], *self.mean.shape)[...] += noise[..., None, :]
        return result

    def slope(self, change: FloatArray) -> FloatArray:
        """How the gradient of the prior's energy changes with the weights."""
        return self.precision * change if self.precision.ndim == 1 else self.precision @ change


def shared_part(prior: Belief, n_blocks: int) -> SharedPart | None:
    """What the weight vectors under one hinge share, where its law is known."""
    if n_blocks == 1 or not isinstance(prior, GaussianBelief):
        return None
    return SharedPart(prior, n_blocks)


@inner_jit
def redraw_mean(rng: np.random.Generator, vectors: FloatArray, column: int, scale: float) -> None:
    """Redraw the mean of a column of R weight vectors, each N(0, scale^2): N(0, scale^2 / R)."""
    count = vectors.shape[0]
    mean = 0.0
    for y in range(count):
        mean += vectors[y, column]
    shift = scale / math.sqrt(count) * rng.standard_normal() - mean / count
    for y in range(count):
        vectors[y, column] += shift
