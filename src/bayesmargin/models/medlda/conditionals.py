r"""Gibbs sweeps over the topics of the words of one document, without labels (prediction).

With the topics :math:`\Phi` fixed, a word moves by

.. math:: p(z_n = k \mid \cdot) \propto (\alpha + C_k^{-n})\, \Phi_{k, w_n}.

Topics come as unnormalised weights ``topics[word, topic]``; ``scale[topic]`` is one over their sum.
The number of topics is padded to a multiple of :data:`LANES` with empty ones, so that inner loops
have no remainder. Labels come in with :mod:`.supervised`.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray

LANES = 8
# Below this sum a single-precision draw falls back to logarithms in double precision.
_TINY = 1e-30


class Workspace(NamedTuple):
    """Arrays that one thread needs for one document at a time (``held``: words in each topic)."""

    assigned: IntArray
    held: FloatArray
    factor: FloatArray
    weight: FloatArray
    product: FloatArray
    logs: FloatArray
    scores: FloatArray
    proposed: FloatArray
    slopes: FloatArray


def padded(n_topics: int) -> int:
    """Number of topics rounded up to a multiple of :data:`LANES`."""
    return -(-n_topics // LANES) * LANES


def make_workspace(
    n_classes: int, n_padded: int, longest: int, dtype: Any = np.float32
) -> Workspace:
    """Work space for documents of at most ``longest`` words."""
    return Workspace(
        assigned=np.zeros(longest, dtype=np.int32),
        held=np.zeros(n_padded, dtype=dtype),
        factor=np.zeros(n_padded, dtype=dtype),
        weight=np.zeros(n_padded, dtype=dtype),
        product=np.zeros(n_padded, dtype=dtype),
        logs=np.zeros(n_padded),
        scores=np.zeros(n_classes),
        proposed=np.zeros(n_classes),
        slopes=np.zeros(n_classes),
    )


@inner_borrowing_jit
def draw_topic(rng: Any, weight: FloatArray, row: FloatArray, product: FloatArray) -> int:
    """Topic with probability proportional to ``weight * row``; -1 if the sum is too small."""
    n_topics = product.shape[0]
    total = product.dtype.type(0)
    for k in range(n_topics):
        product[k] = weight[k] * row[k]
    for k in range(n_topics):
        total += product[k]
    if not total > _TINY:
        return -1
    target = product.dtype.type(uniform(rng)) * total
    k = 0
    reached = product[0]
    while reached <= target and k < n_topics - 1:
        k += 1
        reached += product[k]
    # Rounding may carry the target past the end, onto a topic that cannot be.
    while k > 0 and product[k] == 0:
        k -= 1
    return k


@inner_borrowing_jit
def draw_from_logs(rng: Any, logs: FloatArray) -> int:
    """Topic with probability proportional to ``exp(logs)``, whatever their size."""
    top = -np.inf
    for k in range(logs.shape[0]):
        top = max(top, logs[k])
    total = 0.0
    for k in range(logs.shape[0]):
        logs[k] = np.exp(logs[k] - top)
        total += logs[k]
    target = uniform(rng) * total
    last = 0
    for k in range(logs.shape[0]):
        if logs[k] > 0.0:
            last = k
            target -= logs[k]
            if target < 0.0:
                break
    return last


@inner_borrowing_jit
def draw_carefully(
    rng: Any, row: FloatArray, scale: FloatArray, alpha: float, work: Workspace
) -> int:
    """Plain conditional by logarithms, for words that single precision cannot weigh."""
    for k in range(work.logs.shape[0]):
        work.logs[k] = np.log(alpha + work.held[k]) + np.log(scale[k]) + np.log(row[k])
    return draw_from_logs(rng, work.logs)


@inner_borrowing_jit
def seat_word(
    rng: Any, n: int, row: FloatArray, scale: FloatArray, alpha: float, work: Workspace
) -> bool:
    """Draw a topic for word ``n``, which is in none, by the conditional without labels.

    ``product`` then holds the conditional, unnormalised, unless single precision could not weigh
    the word: the answer is False in that case.
    """
    new = draw_topic(rng, work.weight, row, work.product)
    weighed = new >= 0
    if not weighed:
        new = draw_carefully(rng, row, scale, alpha, work)
    work.assigned[n] = new
    work.held[new] += 1
    work.weight[new] = (alpha + work.held[new]) * scale[new]
    return weighed


@inner_borrowing_jit
def weigh_topics(scale: FloatArray, alpha: float, work: Workspace) -> None:
    r"""Fill ``weight`` with :math:`\alpha + C_k`, scaled, for the words held now."""
    for k in range(work.held.shape[0]):
        work.weight[k] = (alpha + work.held[k]) * scale[k]


@inner_borrowing_jit
def start_document(
    rng: Any,
    words: IntArray,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    work: Workspace,
) -> None:
    r"""Seat the words one after another by :math:`(\alpha + C_k)\,\Phi_{k,w}`, without labels."""
    work.held[:] = 0
    weigh_topics(scale, alpha, work)
    for n in range(words.shape[0]):
        seat_word(rng, n, topics[words[n]], scale, alpha, work)


@inner_borrowing_jit
def sweep_plain(
    rng: Any,
    words: IntArray,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    adds: bool,
    work: Workspace,
) -> None:
    """One pass over the words of a document without labels (prediction).

    With ``adds`` every visit of a word adds its whole conditional to ``factor``.
    """
    held, product = work.held, work.product
    for n in range(words.shape[0]):
        old = work.assigned[n]
        held[old] -= 1
        work.weight[old] = (alpha + held[old]) * scale[old]
        weighed = seat_word(rng, n, topics[words[n]], scale, alpha, work)
        if adds and weighed:
            total = product.dtype.type(0)
            for k in range(held.shape[0]):
                total += product[k]
            part = product.dtype.type(1.0 / total)
            for k in range(held.shape[0]):
                work.factor[k] += part * product[k]
        elif adds:
            work.factor[work.assigned[n]] += 1
