"""The state of a fit under way, for checkpoints, and how a fit is taken up from it."""

from typing import Any

import numpy as np

from bayesmargin.models.medlda.learners import BatchLearner, Learner, OnlineLearner

# What collapsed Gibbs sampling changes; its documents and signs are those of the data.
COLLAPSED = (
    *("assigned", "counts", "totals", "scale", "precisions", "coef", "shares", "work", "rng"),
)


def learned(learners: list[Learner], step: int) -> tuple[Any, list[np.ndarray]]:
    """State after so many minibatches, and those of its arrays that will not change any more."""
    chains = [
        {name: getattr(learner.chain, name) for name in COLLAPSED}
        if isinstance(learner, BatchLearner)
        else None
        for learner in learners
    ]
    draws = [
        draw
        for learner in learners
        for draw in (*learner.posterior.topics, *learner.posterior.coef)
    ]
    return {"step": step, "learners": learners, "chains": chains}, draws


def take_up(learners: list[Learner], state: Any, n_threads: int) -> int:
    """Bring learners that have just started to a stored state; returns its number of minibatches.

    Without a state that number is zero, and nothing changes.
    """
    if state is None:
        return 0
    for k, (stored, chain) in enumerate(zip(state["learners"], state["chains"], strict=True)):
        learner = learners[k]
        if isinstance(learner, BatchLearner):
            learner.posterior, learner._time = stored.posterior, stored._time
            for name in COLLAPSED:
                setattr(learner.chain, name, chain[name])
        else:
            learners[k] = stored
            if isinstance(stored, OnlineLearner):
                stored._n_threads = n_threads
    return int(state["step"])
