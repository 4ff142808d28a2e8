"""The state of a fit under way, for checkpoints, how a fit is taken up from it, or gone on with."""

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


def require_same_model(model: Any, n_topics: int, classes: Any) -> None:
    """Refuse to go on with other classes, or another number of topics, than a model began with."""
    if classes is not None and not np.array_equal(np.unique(classes), model.classes_):
        raise ValueError(
            f"classes={np.unique(classes).tolist()!r} differ from those of the first call, "
            f"{model.classes_.tolist()!r}"
        )
    if model.n_topics != n_topics:
        raise ValueError(
            f"n_topics={model.n_topics} is not allowed here: this model has learned {n_topics} "
            "topics, and partial_fit goes on with them; set n_topics back, or begin a new model"
        )
