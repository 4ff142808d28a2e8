"""What a thread does with its share of a minibatch: sweeps, counts, averaged subgradients."""

from typing import Any

from bayesmargin.foundation.compiling import borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.conditionals import Workspace, start_document
from bayesmargin.models.medlda.hinges import add_subgradient
from bayesmargin.models.medlda.supervised import score_document, sweep_document


@borrowing_jit
def sample_documents(
    rng: Any,
    hinge: Any,
    by_topic: FloatArray,
    words: IntArray,
    offsets: IntArray,
    signs: IntArray,
    chosen: IntArray,
    topics: FloatArray,
    scale: FloatArray,
    alpha: float,
    n_sweeps: int,
    n_discarded: int,
    counts: IntArray,
    totals: FloatArray,
    gradient: FloatArray,
    work: Workspace,
) -> None:
    r"""Sample the words of the chosen documents and add up what the global steps need.

    Every kept sweep adds its assignments to ``counts[word, topic]`` and
    ``totals[topic]``, and its subgradient of
    :math:`\log\psi` at the *drawn* :math:`\bar z` to ``gradient``: the average of the subgradient,
    not the subgradient of the average (Fisher's identity).
    """
    for position in range(chosen.shape[0]):
        d = chosen[position]
        document = words[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        if length == 0:
            continue
        start_document(rng, document, topics, scale, alpha, work)
        score_document(by_topic, 1.0 / length, work)
        for sweep in range(n_sweeps):
            sweep_document(rng, hinge, by_topic, document, signs[d], topics, scale, alpha, work)
            if sweep >= n_discarded:
                for n in range(length):
                    counts[document[n], work.assigned[n]] += 1
                for k in range(work.product.shape[0]):
                    totals[k] += work.held[k]
                    work.product[k] = work.held[k] / length
                add_subgradient(hinge, signs[d], work.scores, work.product, work.slopes, gradient)
