"""Max-margin voting as a model of blocks: its state, its moves, and what is kept of it."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.hamiltonian import (
    HamiltonianState,
    freeze_step,
    hamiltonian_state,
)
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.crowd.labels import draw_confusion, draw_labels
from bayesmargin.models.crowd.votes import UNKNOWN, Votes, share_of_votes
from bayesmargin.models.crowd.weights import Weights, move_weights, place_weights, weights_of
from bayesmargin.targets.base import Scratch

MOVING = ("rng", "truth", "spoken", "shares", "motion", "chances", "counted", "said")
FIRST_STEP = 0.3


class Draw(NamedTuple):
    """What is kept of a state: weights, and logs of matrices and class shares."""

    weight: FloatArray  #: (n_workers,)
    spoken: FloatArray  #: (n_workers, n_classes, n_classes); empty without matrices
    shares: FloatArray  #: (n_classes,)


@dataclasses.dataclass
class Chain:
    """State of one chain."""

    model: "Voting"
    rng: np.random.Generator
    truth: IntArray  #: labels of the items
    spoken: FloatArray  #: logs of the matrices
    shares: FloatArray  #: logs of the class shares
    motion: HamiltonianState  #: of the weights
    chances: FloatArray  #: sums of the probabilities that labels were drawn with after burn-in
    counted: int = 0  #: sweeps in these sums
    said: float = 0.0  #: log probability of the votes
    changed: float = 0.0  #: share of the labels that the last sweep has changed

    @functools.cached_property
    def target(self) -> Weights:
        """The weights given the labels, which it reads where they are."""
        one = self.model
        target = weights_of(
            one.votes, self.truth, one.n_classes, one.n_workers, one.cost, one.margin,
            one.mean, one.scale,
        )  # fmt: skip
        place_weights(target, self.motion.position)
        return target

    @functools.cached_property
    def work(self) -> Scratch:
        """Work space."""
        return Scratch(np.empty(self.model.n_workers), np.empty(0), np.empty(0))


class Confusion:
    """What each worker says of items of each class, and how many items each class has."""

    name = "confusion"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw matrices and shares given labels."""
        chain.said = draw_confusion(
            chain.rng, *chain.model.votes, chain.truth, chain.model.strength, chain.spoken,
            chain.shares,
        )  # fmt: skip


class Labels:
    """The true labels of the items."""

    name = "labels"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw all of them; probabilities are added up once the chain has burnt in."""
        one = chain.model
        changed = draw_labels(
            chain.rng, *one.votes, one.known, chain.truth, chain.target.eta, chain.spoken,
            chain.shares, one.cost, one.margin, chain.chances,
        )  # fmt: skip
        chain.changed = changed / len(chain.truth)
        chain.counted += 1
        if learning:
            chain.chances[:], chain.counted = 0.0, 0


class WorkerWeights:
    """How much each worker's vote counts."""

    name = "weights"

    def update(self, chain: Chain, learning: bool) -> None:
        """Some trajectories; their step is tuned as long as the chain learns."""
        motion = chain.motion
        if not learning and motion.clock[2] == 1:
            freeze_step(motion.tuning)
            motion.clock[2] = 0
        one = chain.model
        move_weights(one.dynamics, chain.target, motion, chain.work, chain.rng, one.moves)


class Voting(NamedTuple):
    """What the chains of one fit have in common."""

    votes: Votes
    known: IntArray  #: labels that were told, else ``UNKNOWN``
    n_workers: int
    n_classes: int
    strength: FloatArray  #: prior counts of a matrix; empty where workers have none
    cost: float
    margin: float
    mean: float  #: of the weights before any vote
    scale: float
    dynamics: Any
    step: float | None  #: None: tuned
    moves: int  #: transitions of the weights in a sweep

    @property
    def blocks(self) -> Any:
        """Matrices, labels, weights."""
        matrices = (Confusion(),) if self.strength.size else ()
        return (*matrices, Labels(), WorkerWeights())

    def begin(self, rng: np.random.Generator) -> Chain:
        """Labels that most votes are for, ties at random; weights at the mean of their prior.

        Labels drawn from the shares of the votes would let a chain of few workers begin where all
        classes have changed places, from where it does not come back.
        """
        share = share_of_votes(self.votes, self.n_classes)
        truth = (share + 1e-9 * rng.random(share.shape)).argmax(axis=1)
        told = self.known != UNKNOWN
        truth[told] = self.known[told]
        size = self.n_classes if self.strength.size else 0
        spoken = np.zeros((self.n_workers if size else 0, size, size))
        motion = hamiltonian_state(
            np.zeros(self.n_workers), self.step or FIRST_STEP, self.step is None
        )
        return Chain(
            self, rng, truth.astype(np.int64), spoken, np.zeros(size), motion,
            np.zeros_like(share),
        )  # fmt: skip

    def traces(self, chain: Chain) -> dict[str, float]:
        """Energy of the weights, log probability of the votes, what moved, what was accepted."""
        found = {
            "hinge": float(chain.motion.energy[0]),
            "weight": float(chain.target.eta.mean()),
            "changed": chain.changed,
            "accepted": float(chain.motion.friction[0]),
        }
        return {**found, "votes": chain.said} if self.strength.size else found

    def draw(self, chain: Chain) -> Draw:
        """Weights and matrices."""
        return Draw(chain.target.eta.copy(), chain.spoken.copy(), chain.shares.copy())

    def moving(self, chain: Chain) -> dict[str, Any]:
        """What a sweep changes."""
        return {name: getattr(chain, name) for name in MOVING}

    def resume(self, moving: dict[str, Any]) -> Chain:
        """The chain that had this state."""
        return Chain(self, **moving)
