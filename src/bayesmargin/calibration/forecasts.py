"""What a model says of its training rows, each left out in turn."""

from dataclasses import dataclass, field

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


@dataclass(frozen=True)
class LeftOutForecasts:
    """Training rows, or at most 20,000 of them chosen at random, each forecast by the others.

    The map from scores to probabilities is that of all rows: it has a handful of numbers.

    Attributes
    ----------
    probability : array of shape (n_rows, n_classes)
        Probabilities of the classes.
    label : array of shape (n_rows,)
        Class numbers.
    number : array of shape (n_rows,)
        Rows that each stands for: equal rows of one class are held once.
    spread : array of shape (n_rows,)
        Posterior standard deviation of the score; of several classes, of the lead over the class
        for which it is the largest.
    place : array of shape (n_training_rows,), optional
        Where each training row is held, -1 for those of weight zero; None where not all are held.
    """

    probability: FloatArray
    label: IntArray
    number: FloatArray
    spread: FloatArray
    place: IntArray | None = field(default=None, repr=False)

    @property
    def in_order(self) -> FloatArray | None:
        """Probabilities in the order of the training rows, NaN for those of weight zero."""
        if self.place is None:
            return None
        known = self.place >= 0
        result = np.full((len(self.place), self.probability.shape[1]), np.nan)
        result[known] = self.probability[self.place[known]]
        return result
