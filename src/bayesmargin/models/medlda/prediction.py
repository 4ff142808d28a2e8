r"""Topics and scores of new documents, averaged over the posterior.

Topics are integrated out (:mod:`.expected`), and scores are linear in :math:`\eta`, so that its
mean will do; or both are averaged over draws. For every such state :math:`(\Phi, \eta)` the words
of a document are sampled *without* the hinge, :math:`p(z_n = k) \propto (\alpha +
C_k^{-n})\,\Phi_{k, w_n}`, and its representation is the average over kept sweeps. Each visit of a
word adds its whole conditional distribution instead of the topic drawn (Rao-Blackwell: same mean,
less noise).

The assignments of a document have several modes, which a chain seldom leaves. So every state starts
the document anew, and few states start it several times each: averages over short chains from many
starts were better on held-out documents than those over a long chain at twice the price. With a
small :math:`\alpha` every start would end where its first words are; it begins with a larger one.

An empty document has :math:`\bar z = 1/K`: the prior mean, and all that is known about it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, jit
from bayesmargin.foundation.streams import seed_stream
from bayesmargin.foundation.threads import ThreadPool
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.conditionals import (
    Workspace,
    make_workspace,
    start_document,
    sweep_plain,
    weigh_topics,
)
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.posterior import TopicPosterior, inverse_sums

# Starts of a document over all states: so many, and one for every TOPICS_A_START topics, since more
# topics have more modes. Sweeps after a start, and those averaged then.
N_STARTS, TOPICS_A_START, N_WARM, N_KEPT = 10, 10, 5, 3
# Averages over few words are noisy, and cheap: short documents are started until their starts have
# so many words, though not more than SHORT times as often.
STARTED_WORDS, SHORT = 1000, 10
# A smaller alpha ties the words of a document to the topic of the first: they leave it one by one,
# and each on its own against all the others. So a start has a larger one, and cools down. Where
# starts part from their topics by themselves, those that are more alike would average over less.
SMALL, WARMEST = 0.025, 1.0
_CHUNK = 256


@inner_borrowing_jit
def warm(alpha: float, sweep: int) -> float:
    """The ``alpha`` of a sweep after a start: falling to its own value, where that is small."""
    if alpha >= SMALL or sweep >= N_WARM:
        return alpha
    return float(WARMEST * (alpha / WARMEST) ** (sweep / N_WARM))


@jit
def infer_documents(
    stream: Any,
    words: IntArray,
    offsets: IntArray,
    first: int,
    last: int,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    seed: int,
    n_starts: int,
    n_started: int,
    shares: FloatArray,
    work: Workspace,
) -> None:
    """Average topic shares of documents ``first`` to ``last`` under one draw.

    A document has ``n_starts`` starts; a short one as many as have ``n_started`` words, though not
    more than ``SHORT * n_starts``.
    """
    for d in range(first, last):
        document = words[offsets[d] : offsets[d + 1]]
        if document.shape[0] == 0:
            continue
        seed_stream(stream, seed, document)
        work.factor[:] = 0
        more = min(n_started // document.shape[0], SHORT * n_starts)
        for _ in range(max(n_starts, more)):
            start_document(stream, document, topics, scale, warm(alpha, 0), work)
            for sweep in range(N_WARM + N_KEPT):
                now = warm(alpha, sweep + 1)
                if alpha < SMALL:
                    weigh_topics(scale, now, work)
                sweep_plain(stream, document, topics, scale, now, sweep >= N_WARM, work)
        # Single precision adds up to the number of words only nearly; shares add up to 1.
        total = 0.0
        for k in range(shares.shape[1]):
            total += work.factor[k]
        for k in range(shares.shape[1]):
            shares[d, k] = work.factor[k] / total


def infer(
    posterior: TopicPosterior,
    documents: Documents,
    alpha: float,
    seed: int,
    n_draws: int | None,
    n_threads: int,
    visit: Callable[[int, FloatArray], None] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Mean topic shares (n, K) and mean scores (n, L) over the states of the posterior.

    These are the last ``n_draws`` draws, or for None all that is known, with starts enough for
    short documents. ``visit(draw, shares)`` sees the shares under each.
    """
    n_documents, n_topics = documents.n_documents, posterior.n_topics
    n_classes = posterior.coef[0].shape[0]
    width = posterior.topics[0].shape[1]
    longest = max(1, int(documents.lengths.max(initial=1)))
    mean_shares = np.zeros((n_documents, n_topics))
    scores = np.zeros((n_documents, n_classes))
    empty = documents.lengths == 0
    states = posterior.states(n_draws)
    n_starts = -(-max(N_STARTS, n_topics // TOPICS_A_START) // len(states))
    n_started = 0 if n_draws is not None else -(-STARTED_WORDS // len(states))
    chunks = range(0, n_documents, _CHUNK)

    def make_room() -> Workspace:
        # Chances of very many words add up in double precision: in single the sum stops growing.
        return make_workspace(n_classes, width, longest)._replace(factor=np.zeros(width))

    with ThreadPool(n_threads, make_room) as pool:
        for draw, topics, coef in states:
            shares = np.zeros((n_documents, n_topics))
            shares[empty] = 1.0 / n_topics
            scale = inverse_sums(topics.sum(axis=0, dtype=np.float64), n_topics)

            def task(chunk: int, work: Workspace) -> None:
                infer_documents(
                    np.zeros(1, dtype=np.uint64),
                    documents.words,
                    documents.offsets,
                    chunks[chunk],
                    min(chunks[chunk] + _CHUNK, n_documents),
                    topics,  # noqa: B023
                    scale,  # noqa: B023
                    alpha,
                    seed + draw,  # noqa: B023
                    n_starts,
                    n_started,
                    shares,  # noqa: B023
                    work,
                )

            pool.run(task, range(len(chunks)))
            mean_shares += shares / len(states)
            # Not a product of BLAS, which orders the sums of a document by how many there are.
            scores += np.einsum("dk,lk->dl", shares, coef) / len(states)
            if visit is not None:
                visit(draw, shares)
    return mean_shares, scores
