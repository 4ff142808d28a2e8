"""Gaussian fits of linear models, one a class, and what they say of rows that they did not see.

Of more than two classes there is a Gaussian for each against the rest. Rows are left out in two
ways: one by one, by computation, or a part of them at a time, by a fit to the others. The first
takes no time and is right where no row matters much. With large costs a few rows hold the border,
others take their places when one goes, and no computation at the old border sees that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesmargin.approximation.dense import RowsOfTwoClasses, score_moments
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.matching import CLOSE, MatchedGaussian, matched
from bayesmargin.approximation.newton import TOLERANCE
from bayesmargin.calibration.leading import leader_of, variance_to_leader
from bayesmargin.calibration.maps import MAX_ROWS, Link, fit_link
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.fitting import LinearData

CERTAIN = 1e-12  # probability below which a log loss is not counted any higher
Scores = tuple[FloatArray, FloatArray]
"""Means and variances, (row,) or (row, class), as a link takes them."""


@dataclass(frozen=True)
class GaussianFits:
    """Rows with settings, and the Gaussian of each score.

    Parameters
    ----------
    data : LinearData
        Dense rows in memory, as they are sampled.
    parts : sequence of RowsOfTwoClasses
        One of two classes, else one a class.
    anchors : sequence of GaussianAnchor
        Of the parts.
    cost, margin : float
    """

    data: LinearData
    parts: Sequence[RowsOfTwoClasses]
    anchors: Sequence[GaussianAnchor]
    cost: float
    margin: float
    matches: Sequence[MatchedGaussian] | None = None

    @property
    def number(self) -> FloatArray:
        """Rows that each stands for."""
        return self.data.weight if self.data.number is None else self.data.number

    @property
    def single(self) -> FloatArray:
        """Cost of one row of those that each stands for."""
        return np.asarray(self.cost * self.data.weight / np.maximum(self.number, 1.0))

    def left_out(self) -> Scores:
        """Scores of the rows, each without itself, by computation."""
        if self.matches is not None:
            return self._as_linked([one.without_rows(self.number) for one in self.matches], 0.0)
        single = self.single
        found = [
            part.without_rows(anchor, single)
            for part, anchor in zip(self.parts, self.anchors, strict=True)
        ]
        return self._as_linked(found)

    def some_left_out(self, rng: np.random.Generator) -> tuple[LinearData, Scores]:
        """The same of at most 20,000 rows chosen at random, and these rows."""
        mean, variance = self.left_out()
        if len(mean) <= MAX_ROWS:
            return self.data, (mean, variance)
        chosen = rng.choice(len(mean), MAX_ROWS, replace=False, shuffle=False)
        return self.data.at(chosen), (mean[chosen], variance[chosen])

    def held_out(self, fold: IntArray, tolerance: float = TOLERANCE) -> Scores:
        """Scores of the rows of every part by a fit to the other parts."""
        found = []
        for part, anchor in zip(self.parts, self.anchors, strict=True):
            mean, variance = np.empty(len(fold)), np.empty(len(fold))
            for number in np.unique(fold):
                away = fold == number
                one = part.at(~away).fit(anchor, tolerance)
                mean[away], variance[away] = score_moments(part.rows[away], one)
            found.append((mean, variance))
        return self._as_linked(found)

    def active(self) -> FloatArray:
        """Probabilities that the hinge of each row bends; of several hinges, any of them."""
        if self.matches is not None:
            active = [one.active() for one in self.matches]
        else:
            pairs = zip(self.parts, self.anchors, strict=True)
            active = [part.active(anchor) for part, anchor in pairs]
        return np.asarray(1.0 - np.prod(1.0 - np.array(active), axis=0))

    def losses(self, scores: Scores, link: Link | None = None) -> FloatArray:
        """Log loss of every row by scores of rows left out, and the link that suits these best."""
        link = link or self.link(scores)
        chance = link.probabilities(*scores)[np.arange(len(self.data.label)), self.data.label]
        return np.asarray(-np.log(np.maximum(chance, CERTAIN)))

    def link(self, scores: Scores) -> Link:
        """The link that makes labels most likely."""
        return fit_link(*scores, self.data.label, self.data.weight, self.cost, self.margin)

    def _as_linked(self, found: Sequence[Scores], unseen: float = 1.0) -> Scores:
        mean, variance = (np.stack(part, axis=1) for part in zip(*found, strict=True))
        if self.data.unseen is not None:
            variance += unseen * self.data.unseen[:, None]
        if self.data.n_classes == 2:
            return mean[:, 0], variance[:, 0]
        return mean, variance_to_leader(variance, leader_of(mean))


def gaussian_fits(
    data: LinearData,
    cost: float,
    margin: float,
    scale: float,
    intercept: bool = True,
    start: GaussianFits | None = None,
    tolerance: float = TOLERANCE,
) -> GaussianFits:
    """Gaussians of the scores under a Gaussian prior of some scale.

    Parameters
    ----------
    start : GaussianFits, optional
        Of the same rows with another cost.
    """
    parts = _parts(data, cost, margin, scale, intercept, start)
    starts = [None] * len(parts) if start is None else start.anchors
    anchors = [part.fit(one, tolerance) for part, one in zip(parts, starts, strict=True)]
    return GaussianFits(data, parts, anchors, cost, margin)


def matched_fits(
    data: LinearData,
    cost: float,
    margin: float,
    scale: float,
    intercept: bool = True,
    start: GaussianFits | None = None,
    close: float = CLOSE,
    together: bool = True,
) -> GaussianFits:
    """Gaussians that have the moments of the scores; arguments as of :func:`gaussian_fits`.

    ``close`` and ``together`` say when these are met, see :func:`approximation.matching.matched`.
    """
    parts = _parts(data, cost, margin, scale, intercept, start)
    starts = [None] * len(parts) if start is None or start.matches is None else start.matches
    facts = (close, together)
    pairs = zip(parts, starts, strict=True)
    found = [matched(part, data.unseen, one, *facts) for part, one in pairs]
    return GaussianFits(data, parts, [one.anchor for one in found], cost, margin, found)


def _parts(
    data: LinearData,
    cost: float,
    margin: float,
    scale: float,
    intercept: bool,
    start: GaussianFits | None,
) -> list[RowsOfTwoClasses]:
    """Rows of two classes, or of one against the rest for every class."""
    signs = np.where(np.arange(data.n_classes) == data.label[:, None], 1.0, -1.0)
    signs = signs[:, 1:] if data.n_classes == 2 else signs
    rows = data.values if start is None else start.parts[0].rows
    if intercept and start is None:
        rows = np.column_stack([rows, np.ones(len(rows))])
    facts = (cost * data.weight, margin, np.full(rows.shape[1], scale**-2.0))
    return [RowsOfTwoClasses(rows, np.ascontiguousarray(sign), *facts) for sign in signs.T]


def folds_of(label: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """A number of a part for every row, classes dealt out evenly."""
    fold = np.empty(len(label), dtype=np.int64)
    order = rng.permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    fold[order] = np.arange(len(label)) % count
    return fold
