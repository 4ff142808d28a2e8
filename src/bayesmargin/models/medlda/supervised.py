r"""Gibbs sweeps over the topics of the words of one document with labels (training).

With the topics :math:`\Phi` and the weights :math:`\eta` fixed, a word moves by

.. math:: p(z_n = k \mid \cdot) \propto (\alpha + C_k^{-n})\, \Phi_{k, w_n}\,
          \psi(y \mid \bar z \text{ with } z_n = k, \eta).

Topics are proposed by a bound of :math:`\psi` that is linear in the counts, and kept by the ratio
of :math:`\psi` to it (:mod:`.hinges`).
"""

from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.conditionals import Workspace, draw_from_logs, draw_topic
from bayesmargin.models.medlda.exponential import exponential
from bayesmargin.models.medlda.hinges import active_piece, excess, hinge_value

# Rejections of one word after which the piece is renewed, and after which all topics are weighed.
_RENEW_AFTER = 1
_WEIGH_ALL_AFTER = 6
# The piece is renewed when the chance to keep even the present assignment falls below exp(-this).
_STALE = 0.7


@borrowing_jit
def score_document(by_topic: FloatArray, rate: float, work: Workspace) -> None:
    """Recompute the class scores from the counts (``rate`` is 1/N)."""
    work.scores[:] = 0.0
    for k in range(work.held.shape[0]):
        share = rate * work.held[k]
        for y in range(work.scores.shape[0]):
            work.scores[y] += share * by_topic[k, y]


@borrowing_jit
def choose_piece(
    hinge: Any,
    by_topic: FloatArray,
    signs: IntArray,
    rate: float,
    scale: FloatArray,
    alpha: float,
    work: Workspace,
) -> float:
    """Bound the hinge by the piece active now: fill ``slopes``, ``factor`` and ``weight``."""
    constant = active_piece(hinge, signs, work.scores, work.slopes)
    top = -np.inf
    for k in range(work.logs.shape[0]):
        slope = 0.0
        for y in range(work.slopes.shape[0]):
            slope += work.slopes[y] * by_topic[k, y]
        work.logs[k] = -hinge.cost * rate * slope
        if scale[k] > 0.0:
            top = max(top, work.logs[k])
    for k in range(work.logs.shape[0]):
        power = work.factor.dtype.type(min(0.0, work.logs[k] - top))
        work.factor[k] = exponential(power) * scale[k]
        work.weight[k] = (alpha + work.held[k]) * work.factor[k]
    return constant


@borrowing_jit
def propose_scores(by_topic: FloatArray, rate: float, old: int, new: int, work: Workspace) -> None:
    """Scores of the document once the word moved from topic ``old`` to ``new``."""
    for y in range(work.scores.shape[0]):
        work.proposed[y] = work.scores[y] + rate * (by_topic[new, y] - by_topic[old, y])


@borrowing_jit
def log_conditional(
    hinge: Any,
    by_topic: FloatArray,
    signs: IntArray,
    rate: float,
    old: int,
    row: FloatArray,
    scale: FloatArray,
    alpha: float,
    work: Workspace,
) -> None:
    """Fill ``logs`` with the log conditional of one word, up to a constant.

    The word is already out of ``held``, but ``scores`` still hold it in topic ``old``. This is the
    conditional written out: every topic, double precision.
    """
    for k in range(work.logs.shape[0]):
        propose_scores(by_topic, rate, old, k, work)
        prior = np.log(alpha + work.held[k]) + np.log(scale[k]) + np.log(row[k])
        work.logs[k] = prior - hinge.cost * hinge_value(hinge, signs, work.proposed)


@borrowing_jit
def sweep_document(
    rng: Any,
    hinge: Any,
    by_topic: FloatArray,
    words: IntArray,
    signs: IntArray,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    work: Workspace,
) -> None:
    """One pass over the words of a document by the conditional with the hinge.

    Expects ``assigned``, ``held`` and the scores of :func:`score_document` in ``work``.
    """
    count, factor, weight = work.held, work.factor, work.weight
    rate = 1.0 / words.shape[0]
    constant = choose_piece(hinge, by_topic, signs, rate, scale, alpha, work)
    standing = 0.0
    for n in range(words.shape[0]):
        word, old = words[n], work.assigned[n]
        if standing > _STALE:
            constant = choose_piece(hinge, by_topic, signs, rate, scale, alpha, work)
            standing = 0.0
        count[old] -= 1
        weight[old] = (alpha + count[old]) * factor[old]
        rejected = 0
        while True:
            new = draw_topic(rng, weight, topics[word], work.product)
            if new < 0 or rejected >= _WEIGH_ALL_AFTER:
                log_conditional(hinge, by_topic, signs, rate, old, topics[word], scale, alpha, work)
                new = draw_from_logs(rng, work.logs)
                propose_scores(by_topic, rate, old, new, work)
                penalty = excess(hinge, signs, work.proposed, work.slopes, constant)
                break
            penalty = standing
            if new != old:
                propose_scores(by_topic, rate, old, new, work)
                penalty = excess(hinge, signs, work.proposed, work.slopes, constant)
            if penalty <= 0.0 or uniform(rng) < np.exp(-penalty):
                break
            rejected += 1
            if rejected == _RENEW_AFTER and standing > 0.0:
                constant = choose_piece(hinge, by_topic, signs, rate, scale, alpha, work)
                standing = 0.0
        count[new] += 1
        weight[new] = (alpha + count[new]) * factor[new]
        if new != old:
            work.assigned[n] = new
            standing = penalty
            for y in range(work.scores.shape[0]):
                work.scores[y] = work.proposed[y]
