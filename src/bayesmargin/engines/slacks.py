"""What many draws say of the slacks of rows, on a device: for calibration of heads."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.predicting import Away, at_hand
from bayesmargin.engines.programs import program
from bayesmargin.foundation.types import FloatArray, IntArray


@program
def _sums(rows: Any, mean: Any, label: Any, margin: Any, away: Away) -> tuple[Any, ...]:
    """Slack at the mean; sums of what draws add to it: as it is, squared, times scores."""
    own = jax.nn.one_hot(label, mean.shape[1], dtype=bool)

    def slack(scores: Any) -> Any:
        rival = jnp.where(own, -jnp.inf, scores).max(axis=1)
        return margin + rival - jnp.where(own, scores, 0.0).sum(axis=1)

    centre = slack(mean)

    def add(k: Any, sums: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        scores = jnp.dot(rows, away.coef[k].T, preferred_element_type=jnp.float32)
        scores = scores + away.intercept[k]
        more = slack(mean + scores) - centre
        return sums[0] + more, sums[1] + jnp.square(more), sums[2] + more[:, None] * scores

    nothing = jnp.zeros_like(centre)
    return centre, *jax.lax.fori_loop(
        0, away.intercept.shape[0], add, (nothing, nothing, jnp.zeros_like(mean))
    )


def slack_facts(
    X: FloatArray, draws: tuple[FloatArray, FloatArray], label: IntArray, margin: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean and variance (row) of slacks over draws, mean scores, covariances of both (row, class).

    ``draws`` are weights (draw, class, feature) and intercepts (draw, class); slacks are those of
    classes that share a hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.slacks import slack_facts
    >>> coef = np.array([[[0.0], [1.0]], [[0.0], [3.0]]], np.float32)
    >>> X, label = np.array([[1.0]], np.float32), np.array([0])
    >>> level, spread, *_ = slack_facts(X, (coef, np.zeros((2, 2), np.float32)), label, 1.0)
    >>> level, spread
    (array([3.]), array([1.]))
    """
    coef, intercept = draws
    count = len(coef)
    mean = X @ coef.mean(axis=0).T + intercept.mean(axis=0)
    facts = np.asarray(X, np.float32), np.asarray(mean, np.float32), label.astype(np.int32)
    found = _sums(*facts, np.float32(margin), at_hand(coef, intercept))
    centre, more, squares, product = (np.asarray(part, float) for part in found)
    more, spread = more / count, squares / count
    return centre + more, np.maximum(spread - more**2, 0.0), mean, product / count
