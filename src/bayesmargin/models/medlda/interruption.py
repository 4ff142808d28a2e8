"""Ctrl-C in a fit: what is kept of chains that end before their time."""

import warnings
from collections.abc import Sequence

from bayesmargin.errors import InterruptedWarning
from bayesmargin.models.medlda.learners import Learner
from bayesmargin.models.medlda.posterior import TopicPosterior


def stop_early(learners: Sequence[Learner], time: int) -> None:
    """End all chains after so many steps; where that leaves no draws, so does the fit end."""
    for learner in learners:
        learner.stop(time)
        learner.close()
    if not all(learner.posterior.topics for learner in learners):
        raise KeyboardInterrupt


def warn_of_interrupt(posterior: TopicPosterior, method: str) -> None:
    """Warn that Ctrl-C has cut a fit short."""
    steps = "sweeps" if method == "gibbs" else "minibatches"
    warnings.warn(
        f"sampling was interrupted after {posterior.length} of {posterior.planned} {steps}; the "
        "model holds the draws made so far: fit again for a full run",
        InterruptedWarning,
        stacklevel=4,
    )
