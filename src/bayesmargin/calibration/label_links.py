"""Probabilities of label sets: a map a label, and what each says of rows that it left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.calibration.maps import BinaryLink
from bayesmargin.foundation.types import FloatArray


@dataclass(frozen=True)
class LabelLinks:
    """The maps of labels that a row may or may not have, one beside the other.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.label_links import LabelLinks
    >>> from bayesmargin.calibration.maps import BinaryLink
    >>> one = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]))
    >>> LabelLinks((one, one)).probabilities(np.zeros((1, 2)), np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """

    links: tuple[BinaryLink, ...]

    def counted(self, variance: FloatArray) -> FloatArray:
        """The part of variances (row, label) that counts, see :class:`~.maps.Cautious`."""
        pairs = zip(self.links, variance.T, strict=True)
        return np.stack([link.counted(column) for link, column in pairs], axis=1)

    def probabilities(self, scores: FloatArray, variance: FloatArray) -> FloatArray:
        """Probability of every label (row, label), from mean and variance of its score."""
        columns = zip(self.links, scores.T, variance.T, strict=True)
        return np.stack([link.probabilities(s, v)[:, 1] for link, s, v in columns], axis=1)


def together(
    parts: Sequence[tuple[BinaryLink, LeftOutForecasts]],
) -> tuple[LabelLinks, LeftOutForecasts]:
    """Maps and forecasts of all labels, from those of each."""
    forecasts = [found for _, found in parts]
    first = forecasts[0]
    return LabelLinks(tuple(link for link, _ in parts)), LeftOutForecasts(
        np.stack([found.probability[:, 1] for found in forecasts], axis=1),
        np.stack([found.label for found in forecasts], axis=1),
        first.number,
        np.max([found.spread for found in forecasts], axis=0),
        first.place,
    )
