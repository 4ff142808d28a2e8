"""The state of a fit under way, for checkpoints, and how a fit is taken up from it."""

import dataclasses
import math
from typing import Any

import numpy as np

from bayesmargin.errors import CheckpointError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.chain import Chain
from bayesmargin.models.dpmnl.prediction import Draw
from bayesmargin.models.dpmnl.state import Hyper

_MOVING = ("rng", "slots", "experts", "hyper", "sweeps")


@dataclasses.dataclass
class Record:
    """What is kept of a chain: four figures of every sweep, and draws."""

    components: list[int] = dataclasses.field(default_factory=list)
    moved: list[float] = dataclasses.field(default_factory=list)
    accepted: list[float] = dataclasses.field(default_factory=list)
    draws: list[Draw] = dataclasses.field(default_factory=list)
    partition: list[float] = dataclasses.field(default_factory=list)


def _parts(base: Hyper | None) -> list[np.ndarray]:
    return [] if base is None else [part for part in base if part is not None]


def state_of(chain: Chain, record: Record) -> tuple[Any, list[np.ndarray]]:
    """What a checkpoint stores, and those of its arrays that will not change any more."""
    draws = record.draws
    state = {name: getattr(chain, name) for name in _MOVING}
    fixed = [a for draw in draws for a in (draw.log_weight, *draw.experts, *_parts(draw.base))]
    figures: dict[str, list[Any]] = {
        "trace": record.components, "moved": record.moved, "accepted": record.accepted,
        "partition": record.partition,
    }  # fmt: skip
    return {**state, **figures, "draws": draws}, fixed


def take_up(
    state: dict[str, Any],
    X: FloatArray,
    labels: IntArray,
    **settings: Any,
) -> tuple[Chain, Record]:
    """Chain and record as a checkpoint has stored them."""
    moving = {name: state[name] for name in _MOVING}
    if moving["experts"].mean.shape[1] != X.shape[1]:  # constant columns were not always left out
        raise CheckpointError(
            "the checkpoint was written by an earlier version of the library, which this one "
            "cannot go on from: remove the folder, or choose another checkpoint"
        )
    chain = Chain(X=X, labels=labels, **settings, **moving)
    trace = state["trace"]
    # Checkpoints did not always have these.
    moved, accepted, partition = (
        state.get(name, [math.nan] * len(trace)) for name in ("moved", "accepted", "partition")
    )
    return chain, Record(trace, moved, accepted, state["draws"], partition)
