"""How well scores of many rows are known, from many draws, on a device."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

SCORES = 1 << 26  # scores held at a time
WEIGHTS = 1 << 24  # of the draws that travel to the device together


@partial(jax.jit, donate_argnums=0)
def _add_squares(total: Any, rows: Any, draws: Any, centre: Any, leader: Any) -> Any:
    """Squares of the scores of ``draws`` about those of their mean, added to a total.

    With a leader they are those of the differences to its score.
    """

    def add(k: Any, total: Any) -> Any:
        away = jnp.einsum("tn,ln->tl", rows, draws[k] - centre, preferred_element_type=jnp.float32)
        if leader is not None:
            away = away - jnp.take_along_axis(away, leader[:, None], axis=1)
        return total + jnp.square(away)

    return jax.lax.fori_loop(0, draws.shape[0], add, total)


def spread_of_scores(
    X: FloatArray, coef: FloatArray, intercept: FloatArray, leader: IntArray | None = None
) -> FloatArray:
    """Variances (row, block) of scores over draws; of differences to a leader's, if there is one.

    Parameters
    ----------
    X : array of shape (row, feature)
    coef : array of shape (draw, block, feature)
    intercept : array of shape (draw, block)
    leader : array of shape (row,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.predicting import spread_of_scores
    >>> coef = np.array([[[1.0]], [[3.0]]], np.float32)
    >>> spread_of_scores(np.array([[2.0]], np.float32), coef, np.zeros((2, 1), np.float32))
    array([[8.]], dtype=float32)
    """
    count, blocks, n_features = coef.shape
    centre = jnp.asarray(_joined(coef.mean(axis=0), intercept.mean(axis=0)))
    together = max(1, WEIGHTS // (blocks * (n_features + 1)))
    step = max(1, SCORES // blocks)
    starts = range(0, X.shape[0], step)
    parts = [slice(start, start + step) for start in starts]
    rows = [jnp.asarray(_with_one(X[part])) for part in parts]
    leaders = [None if leader is None else jnp.asarray(leader[part]) for part in parts]
    totals = [jnp.zeros((block.shape[0], blocks), jnp.float32) for block in rows]
    for first in range(0, count, together):
        some = slice(first, first + together)
        draws = jnp.asarray(_joined(coef[some], intercept[some]))
        for k, (block, lead) in enumerate(zip(rows, leaders, strict=True)):
            totals[k] = _add_squares(totals[k], block, draws, centre, lead)
    return np.concatenate([np.asarray(total) for total in totals]) / np.float32(max(1, count - 1))


def _joined(coef: FloatArray, intercept: FloatArray) -> FloatArray:
    return np.concatenate([coef, intercept[..., None]], axis=-1, dtype=np.float32)


def _with_one(X: FloatArray) -> FloatArray:
    return np.concatenate([X, np.ones((len(X), 1))], axis=1, dtype=np.float32)
