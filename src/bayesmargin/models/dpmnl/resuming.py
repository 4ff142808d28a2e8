"""The state of a fit under way, for checkpoints, and how a fit is taken up from it."""

from typing import Any

import numpy as np

from bayesmargin.models.dpmnl.chain import Chain
from bayesmargin.models.dpmnl.prediction import Draw
from bayesmargin.types import FloatArray, IntArray

_MOVING = ("rng", "slots", "experts", "hyper", "sweeps")


def state_of(chain: Chain, trace: list[int], draws: list[Draw]) -> tuple[Any, list[np.ndarray]]:
    """What a checkpoint stores, and those of its arrays that will not change any more."""
    state = {name: getattr(chain, name) for name in _MOVING}
    fixed = [array for draw in draws for array in (draw.log_weight, *draw.experts)]
    return {**state, "trace": trace, "draws": draws}, fixed


def take_up(
    state: dict[str, Any],
    X: FloatArray,
    labels: IntArray,
    step: float,
    leapfrogs: int,
    auxiliary: int,
) -> tuple[Chain, list[int], list[Draw]]:
    """Chain, trace and draws as a checkpoint has stored them."""
    moving = {name: state[name] for name in _MOVING}
    chain = Chain(X=X, labels=labels, step=step, leapfrogs=leapfrogs, auxiliary=auxiliary, **moving)
    return chain, state["trace"], state["draws"]
