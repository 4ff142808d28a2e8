"""What a fitted topic model says about itself: whether its draws still drift.

A topic posterior has many modes, and chains find different ones, so R-hat, which asks chains to
agree, would tell nothing. What can be asked is whether each chain has come to rest, by quantities
that do not depend on how topics are numbered.

Weights that a thermostat has frozen are at rest, too. Their momentum tells: its mean square is 1,
and nearly 0 where friction has run up.
"""

import math
from collections.abc import Sequence

import numpy as np

from bayesmargin.diagnostics.figures import CUT_SHORT, Figures
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.medlda.posterior import TopicPosterior

MOST_DRIFT = 0.1
QUANTITIES = ("size of the weights", "words a topic spreads over")
HEAT, LEAST_HEAT = "heat of the weights", 0.25


def topic_traces(chains: Sequence[TopicPosterior]) -> dict[str, FloatArray]:
    """Size of the weights and breadth of the topics, (chain, draw); heat where there is any."""
    length = min(len(chain.coef) for chain in chains)
    size = [[float(np.sqrt(np.mean(c**2))) for c in chain.coef[-length:]] for chain in chains]
    breadth = [
        [_breadth(chain.topics[k], chain.n_topics) for k in range(len(chain.topics))[-length:]]
        for chain in chains
    ]
    found = dict(zip(QUANTITIES, (np.array(size), np.array(breadth)), strict=True))
    if all(len(chain.heat) >= length for chain in chains):
        found[HEAT] = np.array([chain.heat[-length:] for chain in chains])
    return found


def diagnose(chains: Sequence[TopicPosterior], traces: dict[str, FloatArray]) -> "TopicDiagnostics":
    """The verdict on chains by their :func:`topic_traces`."""
    return TopicDiagnostics(
        traces,
        stream=any(chain.streamed for chain in chains),
        interrupted=any(chain.interrupted for chain in chains),
    )


def _breadth(topics: FloatArray, n_topics: int) -> float:
    """Exponential of the mean entropy of the topics of a draw (V, P)."""
    part = np.asarray(topics[:, :n_topics], dtype=float)
    part = part / np.maximum(part.sum(axis=0), 1e-300)
    entropy = -(part * np.log(np.maximum(part, 1e-300))).sum(axis=0)
    return float(np.exp(entropy.mean()))


def drift(chains: FloatArray) -> float:
    """Largest relative change between the halves of a chain; NaN for fewer than four draws.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.diagnostics import drift
    >>> drift(np.array([[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 3.0, 3.0]]))
    0.5
    """
    half = chains.shape[1] // 2
    if half < 2:
        return math.nan
    early, late = chains[:, :half].mean(axis=1), chains[:, -half:].mean(axis=1)
    return float(np.max(np.abs(late - early) / np.maximum(np.abs(early), 1e-300)))


class TopicDiagnostics(Figures):
    """Mean and drift of every quantity: a dictionary that can judge and print itself.

    The draws may be those of a ``stream``, which has no passes to raise the number of, or of a fit
    that was ``interrupted``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.diagnostics import TopicDiagnostics
    >>> found = TopicDiagnostics({"size of the weights": np.array([[2.0, 2.0, 2.1, 2.1]])})
    >>> found.trustworthy
    True
    >>> print(found)
    The kept draws are steady: they drift by 5.0% at most.
    """

    def __init__(
        self, traces: dict[str, FloatArray], stream: bool = False, interrupted: bool = False
    ) -> None:
        super().__init__(
            {
                name: {"mean": float(chains.mean()), "drift": drift(chains)}
                for name, chains in traces.items()
            }
        )
        self._traces, self._stream, self.interrupted = traces, stream, interrupted
        if HEAT in traces:
            self[HEAT]["least"] = float(traces[HEAT].mean(axis=1).min())

    @property
    def worst(self) -> float:
        """The largest drift; NaN where there are too few draws to tell."""
        return float(np.max([part["drift"] for name, part in self.items() if name != HEAT]))

    @property
    def frozen(self) -> bool:
        """Whether a thermostat has stopped the weights of a chain instead of moving them."""
        return HEAT in self and self[HEAT]["least"] < LEAST_HEAT

    @property
    def trustworthy(self) -> bool | None:
        """Whether the kept draws move and no longer drift, in a run that was not cut short.

        None where there are too few to tell.
        """
        if self.interrupted:
            return False
        return None if math.isnan(self.worst) else self.worst <= MOST_DRIFT and not self.frozen

    def _repr_html_(self) -> str:
        from bayesmargin.report.cards import topics_card

        return topics_card(self, self._traces)

    def __str__(self) -> str:
        if self.interrupted:
            return f"{CUT_SHORT}."
        if self.trustworthy is None:
            return "There are too few draws to say whether the chains still drift."
        if self.frozen:
            heat = self[HEAT]["least"]
            return (
                f"The weights stand still: the heat of their thermostat is {heat:.2f}, not 1. "
                "Their step is too long: leave it out, or pass less."
            )
        if self.trustworthy:
            return f"The kept draws are steady: they drift by {100 * self.worst:.1f}% at most."
        advice = (
            "pass more documents, or these once more" if self._stream else "raise sampler__n_passes"
        )
        return f"The kept draws still drift, by up to {100 * self.worst:.0f}%: {advice}."
