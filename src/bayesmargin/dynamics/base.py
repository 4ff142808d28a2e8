"""The state every chain carries, and the one function that a dynamics provides."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


class State(NamedTuple):
    """Position, momentum, thermostat, learned scale and clock of one chain.

    One class serves every dynamics, so that checkpoints and diagnostics need not know which ran;
    a dynamics leaves alone what it does not use.
    """

    position: FloatArray
    momentum: FloatArray
    friction: FloatArray
    moment: FloatArray
    clock: IntArray


def initial_state(position: FloatArray, rng: np.random.Generator, friction: float) -> State:
    """State at ``position`` with a fresh momentum and the thermostat at its mean."""
    size = int(position.shape[0])
    return State(
        position=np.array(position, dtype=float),
        momentum=rng.standard_normal((size,)),
        friction=np.full(size, friction),
        moment=np.zeros(size),
        clock=np.zeros(2, dtype=np.int64),
    )


def advance(dynamics: Any, target: Any, state: State, work: Any, rng: np.random.Generator) -> None:
    """Move ``state`` by one iteration, in place (generic, compiled)."""
    raise TypeError(f"{type(dynamics).__name__} is not a dynamics")
