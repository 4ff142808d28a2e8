"""How well scores are known: their variances over the posterior draws.

The draws of a score are linear in the row, and so is a root of their covariance: as many numbers as
a draw has weights, where those are fewer than the draws. Else the scores of all draws are computed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesmargin.calibration.leading import at_leader
from bayesmargin.engines.choosing import worth_a_device
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.scores import (
    draw_scores,
    in_single_precision,
    mean_scores,
    rows_at_a_time,
)
from bayesmargin.priors.moments import FULL_COVARIANCE


def score_variance(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Variances (row, block) of the scores that :func:`draw_scores` would give."""
    if worth_a_device(X, coef):
        from bayesmargin.engines.predicting import spread_of_scores

        return spread_of_scores(X, coef, intercept)
    blocks = coef.shape[1]
    together = blocks if coef.shape[2] > FULL_COVARIANCE else 1  # wide draws are read once
    variance = np.empty((X.shape[0], blocks))
    for first in range(0, blocks, together):
        part = slice(first, first + together)
        for rows, away in _deviations(X, coef[:, part], intercept[:, part]):
            variance[rows, part] = np.square(away, out=away).sum(axis=0)
    return variance


def scores_with_variance(
    X: Any, mean: tuple[FloatArray, FloatArray], coef: FloatArray, intercept: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scores (row, block) under mean weights and their variances over draws.

    They are :func:`mean_scores` and :func:`score_variance`; where the second comes from a device
    and the first is in single precision, that is made there as well: one core of the host needs
    longer for it than the device for all draws.
    """
    if worth_a_device(X, coef) and in_single_precision(X, mean[0]):
        from bayesmargin.engines.predicting import scores_with_spread

        return scores_with_spread(X, mean, coef, intercept)
    return mean_scores(X, *mean), score_variance(X, coef, intercept)


def contrast_variance(
    X: Any, coef: FloatArray, intercept: FloatArray, leader: IntArray
) -> FloatArray:
    """Variances (row, block) of the differences to the score of the row's leading class."""
    if worth_a_device(X, coef):
        from bayesmargin.engines.predicting import spread_of_scores

        return spread_of_scores(X, coef, intercept, leader)
    variance = np.empty((X.shape[0], coef.shape[1]))
    for rows, away in _deviations(X, coef, intercept):
        away -= at_leader(away, leader[rows])
        variance[rows] = np.square(away, out=away).sum(axis=0)
    return variance


def _deviations(
    X: Any, coef: FloatArray, intercept: FloatArray
) -> Iterator[tuple[slice, FloatArray]]:
    """Some rows, and an array (term, row, block) whose products summed over terms are covariances.

    Terms are draws, centred, or the rows of a triangular root of their covariance.
    """
    count, blocks, n_features = coef.shape
    wide = n_features > FULL_COVARIANCE
    rooted = not wide and blocks * (n_features + 1) < count
    if rooted:
        joint = np.concatenate([coef, intercept[..., None]], axis=2).reshape(count, -1)
        root = np.asarray(np.linalg.qr(joint - joint.mean(axis=0), mode="r"))
        root = root.reshape(-1, blocks, n_features + 1)
        coef, intercept = root[..., :-1], root[..., -1]
    step = rows_at_a_time(len(coef) * blocks, wide)
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        scores = draw_scores(X[rows], coef, intercept)
        if not rooted:
            scores -= scores.mean(axis=0)
        scores /= np.sqrt(max(count - 1, 1))
        yield rows, scores
