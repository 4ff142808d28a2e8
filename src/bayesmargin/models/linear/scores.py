"""Scores of rows under many draws, dense or sparse, without large copies of either."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray

PIECE = 1 << 21  # weights copied at a time
SINGLE = 64  # scores of a row from which rows in single precision are not copied
CHUNK = 1 << 22  # scores held at a time when all draws vote


def draw_scores(values: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Scores (draw, row, block) of rows under draws.

    Parameters
    ----------
    values : array or CSR matrix of shape (row, feature)
    coef : array of shape (draw, block, feature)
    intercept : array of shape (draw, block)

    Draws in single precision, perhaps mapped from a file, are read piece by piece and keep their
    precision.
    """
    count, blocks, n_features = coef.shape
    single = coef.dtype == np.float32
    values = values.astype(np.float32) if single and values.dtype != np.float32 else values
    scores = np.empty((count, values.shape[0], blocks), dtype=coef.dtype)
    step = max(1, PIECE // max(1, blocks * n_features))
    for start in range(0, count, step):
        part = np.ascontiguousarray(coef[start : start + step]).reshape(-1, n_features)
        product = (values @ part.T).reshape(values.shape[0], -1, blocks)
        scores[start : start + step] = np.swapaxes(product, 0, 1)
    scores += intercept[:, None, :]
    return scores


def in_single_precision(values: Any, coef: FloatArray) -> bool:
    """Whether scores of rows under weights (block, feature) are computed in single precision."""
    dense = isinstance(values, np.ndarray)
    return dense and values.dtype == np.float32 and len(coef) >= SINGLE


def mean_scores(values: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Scores (row, block) under mean weights.

    Where there are many scores of dense rows in single precision, they are computed in it: a copy
    of the rows in double precision would take longer, and know no more.
    """
    if in_single_precision(values, coef):
        coef, intercept = coef.astype(np.float32), intercept.astype(np.float32)
    scores: FloatArray = values @ coef.T
    scores += intercept
    return scores


def rows_at_a_time(n_scores_per_row: int, wide: bool) -> int:
    """Rows whose scores are held together; more for wide models, whose draws cost a reading."""
    return max(1, (8 * CHUNK if wide else CHUNK) // max(1, n_scores_per_row))
