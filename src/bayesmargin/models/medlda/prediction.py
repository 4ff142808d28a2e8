r"""Topics and scores of new documents, averaged over posterior draws.

For every draw :math:`(\Phi, \eta)` the words of a document are sampled *without* the hinge,
:math:`p(z_n = k) \propto (\alpha + C_k^{-n})\,\Phi_{k, w_n}`, and its representation is the average
over kept sweeps. Each visit of a word adds its whole conditional distribution instead of the topic
drawn (Rao-Blackwell: same mean, less noise). The chain of a document goes on from one posterior
draw to the next, since neighbouring draws are alike; the first has a longer warm-up.

An empty document has :math:`\bar z = 1/K`: the prior mean, and all that is known about it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.medlda.conditionals import (
    Workspace,
    draw_carefully,
    draw_topic,
    make_workspace,
    start_document,
    sweep_plain,
)
from bayesmargin.models.medlda.crew import Crew
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.posterior import TopicPosterior
from bayesmargin.models.medlda.streams import seed_stream
from bayesmargin.types import FloatArray, IntArray

# Sweeps: before the first draw, between draws, and those averaged under every draw.
N_WARM, N_SETTLE, N_KEPT = 10, 2, 6
_CHUNK = 256


@jit
def averaging_sweep(
    rng: Any,
    words: IntArray,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    work: Workspace,
) -> None:
    """A plain sweep that adds the conditional of each word to ``work.factor``."""
    count, chance = work.held, work.weight
    for n in range(words.shape[0]):
        word, old = words[n], work.assigned[n]
        count[old] -= 1
        chance[old] = (alpha + count[old]) * scale[old]
        new = draw_topic(rng, chance, topics[word], work.product)
        if new < 0:
            new = draw_carefully(rng, topics[word], scale, alpha, work)
            work.factor[new] += 1
        else:
            total = work.product.dtype.type(0)
            for k in range(count.shape[0]):
                total += work.product[k]
            part = work.product.dtype.type(1.0 / total)
            for k in range(count.shape[0]):
                work.factor[k] += part * work.product[k]
        work.assigned[n] = new
        count[new] += 1
        chance[new] = (alpha + count[new]) * scale[new]


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
    fresh: bool,
    seed: int,
    n_settle: int,
    n_kept: int,
    assigned: IntArray,
    streams: Any,
    shares: FloatArray,
    work: Workspace,
) -> None:
    """Average topic shares of documents ``first`` to ``last`` under one draw.

    ``assigned`` and ``streams`` carry the chains of the documents from draw to draw.
    """
    for d in range(first, last):
        document = words[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        if length == 0:
            continue
        if fresh:
            seed_stream(stream, seed, document)
            start_document(stream, document, topics, scale, alpha, work)
        else:
            stream[0] = streams[d]
            work.held[:] = 0
            for n in range(length):
                work.assigned[n] = assigned[offsets[d] + n]
                work.held[work.assigned[n]] += 1
            for k in range(work.held.shape[0]):
                work.weight[k] = (alpha + work.held[k]) * scale[k]
        for _ in range(n_settle):
            sweep_plain(stream, document, topics, scale, alpha, work)
        work.factor[:] = 0
        for _ in range(n_kept):
            averaging_sweep(stream, document, topics, scale, alpha, work)
        # Single precision adds up to the number of words only nearly; shares add up to 1.
        total = 0.0
        for k in range(shares.shape[1]):
            total += work.factor[k]
        for k in range(shares.shape[1]):
            shares[d, k] = work.factor[k] / total
        streams[d] = stream[0]
        for n in range(length):
            assigned[offsets[d] + n] = work.assigned[n]


def infer(
    posterior: TopicPosterior,
    documents: Documents,
    alpha: float,
    seed: int,
    n_draws: int,
    n_threads: int,
    visit: Callable[[int, FloatArray], None] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Mean topic shares (n, K) and mean scores (n, L) over the last ``n_draws`` draws.

    ``visit(draw, shares)`` sees the shares under each draw.
    """
    n_documents, n_topics = documents.n_documents, posterior.n_topics
    n_classes = posterior.coef[0].shape[0]
    width = posterior.topics[0].shape[1]
    longest = max(1, int(documents.lengths.max(initial=1)))
    mean_shares = np.zeros((n_documents, n_topics))
    scores = np.zeros((n_documents, n_classes))
    assigned = np.zeros(documents.words.shape[0], dtype=np.int32)
    streams = np.zeros(n_documents, dtype=np.uint64)
    empty = documents.lengths == 0
    chosen = range(len(posterior.topics))[-n_draws:]
    chunks = range(0, n_documents, _CHUNK)
    with Crew(n_threads, lambda: make_workspace(n_classes, width, longest)) as crew:
        for draw in chosen:
            shares = np.zeros((n_documents, n_topics))
            shares[empty] = 1.0 / n_topics
            topics, scale = posterior.topics[draw], posterior.scale(draw)
            fresh = draw == chosen[0]
            settle = N_WARM if fresh else N_SETTLE
            kept = N_KEPT if len(chosen) > 1 else 4 * N_KEPT

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
                    fresh,  # noqa: B023
                    seed,
                    settle,  # noqa: B023
                    kept,  # noqa: B023
                    assigned,
                    streams,
                    shares,  # noqa: B023
                    work,
                )

            crew.run(task, range(len(chunks)))
            mean_shares += shares / len(chosen)
            scores += shares @ posterior.coef[draw].T / len(chosen)
            if visit is not None:
                visit(draw, shares)
    return mean_shares, scores
