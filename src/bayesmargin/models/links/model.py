"""Links by features as a model of blocks: its state, its moves, and what is kept of it."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.base import initial_state
from bayesmargin.dynamics.hamiltonian import (
    Hamiltonian,
    freeze_step,
    hamiltonian_state,
)
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.buffet.features import Features, enlarged, features_of, invariants
from bayesmargin.models.buffet.prior import draw_concentration
from bayesmargin.models.buffet.sweep import sweep_rows
from bayesmargin.models.links.pairs import Pairs
from bayesmargin.models.links.start import clusters_of
from bayesmargin.models.links.target import (
    Heights,
    move_weights,
    n_positions,
    start_positions,
)
from bayesmargin.models.links.view import Links, energy_of_links, refresh
from bayesmargin.models.links.weights import draw_weights
from bayesmargin.targets.base import Scratch

ROOM, FIRST_STEP, FIRST_CONCENTRATION = 16, 0.3, 1.0
MOVING = ("rng", "features", "weights", "intercept", "concentration", "tuning", "friction")


class Draw(NamedTuple):
    """What is kept of a state."""

    held: IntArray  #: (entity, feature)
    weights: FloatArray  #: (relation, feature, feature)
    intercept: FloatArray  #: (relation,)


@dataclasses.dataclass
class Chain:
    """State of one chain."""

    model: "LinkModel"
    rng: np.random.Generator
    features: Features
    weights: FloatArray
    intercept: FloatArray
    concentration: float
    tuning: FloatArray  #: of a Hamiltonian step
    friction: float  #: of a thermostat
    changed: float = 0.0  #: share of the entries that the last sweep has changed
    accepted: float = 1.0

    @functools.cached_property
    def view(self) -> Links:
        """The chain for compiled code, with reaches and scores of its weights."""
        one, room = self.model, self.features.held.shape[1]
        n_pairs, relations = len(one.pairs.side), len(self.intercept)
        view = Links(
            pairs=one.pairs,
            weights=self.weights,
            intercept=self.intercept,
            reach=np.zeros((relations * one.roles, room, one.n_entities)),
            score=np.zeros(n_pairs),
            omega=np.zeros(n_pairs),
            tilt=np.zeros(n_pairs),
            gram=np.zeros((room, room)),
            linear=np.zeros(room),
            active=np.zeros((one.n_entities, room), np.int64),
            number=np.zeros(one.n_entities, np.int64),
            scale=one.scale,
            margin=one.margin,
        )
        refresh(view, self.features)
        return view

    def enlarge(self) -> None:
        """Make room for more features."""
        room = 2 * self.features.held.shape[1]
        self.features = features_of(self.features.matrix, room)
        self.weights = enlarged(self.weights, room, (1, 2))
        del self.view


class Entries:
    """The features of all entities, old ones and new."""

    name = "features"

    def update(self, chain: Chain, learning: bool) -> None:
        """A sweep over the matrix, which makes room where it has to."""
        counts, row = np.zeros(2, dtype=np.int64), 0
        while True:
            row = sweep_rows(
                chain.view, chain.features, chain.concentration, row, counts, chain.rng
            )
            if row == chain.model.n_entities:
                break
            chain.enlarge()
        refresh(chain.view, chain.features)
        entries = chain.model.n_entities * max(1, int(chain.features.size[0]))
        chain.changed = float(counts[0]) / entries


class Concentration:
    """How many features are to be expected."""

    name = "concentration"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw it, given how many there are."""
        size = int(chain.features.size[0])
        chain.concentration = draw_concentration(chain.rng, size, chain.model.n_entities)


class AugmentedWeights:
    """Weights and intercepts by augmentation Gibbs, which is exact."""

    name = "weights"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw them feature by feature."""
        draw_weights(chain.view, chain.features, chain.rng)
        refresh(chain.view, chain.features)


class MovedWeights(NamedTuple):
    """Weights and intercepts by a dynamics of the library."""

    dynamics: Any
    moves: int
    batch: int
    level: float  #: where a thermostat starts
    name: str = "weights"

    def update(self, chain: Chain, learning: bool) -> None:
        """Some transitions with a fresh momentum; a step that is not given is tuned."""
        view, one = chain.view, chain.model
        size = n_positions(
            int(chain.features.size[0]), len(chain.intercept), len(view.reach) == len(view.weights)
        )
        slope, fall = np.empty_like(chain.weights), np.empty_like(chain.intercept)
        linked, free = np.flatnonzero(one.pairs.side > 0.0), np.flatnonzero(one.pairs.side < 0.0)
        target = Heights(
            view, chain.features, linked, free, self.batch, slope, fall, np.empty(size)
        )
        position = np.empty(size)
        start_positions(target, position)
        work = Scratch(*(np.empty(size) for _ in range(3)))
        if isinstance(self.dynamics, Hamiltonian):
            if not learning and chain.tuning[-1] > 0.0:
                freeze_step(chain.tuning)
                chain.tuning[-1] = 0.0
            state = hamiltonian_state(position, 1.0, learning and one.step is None)
            state.tuning[:] = chain.tuning
            move_weights(self.dynamics, target, state, work, chain.rng, self.moves)
            chain.tuning[:], chain.accepted = state.tuning, float(state.friction[0])
        else:
            moving = initial_state(position, chain.rng, chain.friction or self.level)
            move_weights(self.dynamics, target, moving, work, chain.rng, self.moves)
            chain.friction = float(moving.friction.mean())


class LinkModel(NamedTuple):
    """What the chains of one fit have in common."""

    pairs: Pairs
    n_entities: int
    n_relations: int
    roles: int  #: 1 where links are symmetric, else 2
    scale: float
    margin: float
    concentration: float | None  #: None: learned
    step: float | None  #: of a Hamiltonian dynamics; None: tuned
    mover: Any  #: the block of the weights

    @property
    def blocks(self) -> Any:
        """Weights, features, how many to expect."""
        learned = () if self.concentration is not None else (Concentration(),)
        return (self.mover, Entries(), *learned)

    def begin(self, rng: np.random.Generator) -> Chain:
        """Clusters of entities that are linked alike; weights follow before anything else."""
        matrix = clusters_of(
            rng, self.pairs, self.n_entities, self.n_relations, self.roles == 1
        )  # fmt: skip
        features = features_of(matrix, max(ROOM, 2 * matrix.shape[1]))
        room = features.held.shape[1]
        tuning = hamiltonian_state(np.zeros(0), self.step or FIRST_STEP, True).tuning
        return Chain(
            self, rng, features, np.zeros((self.n_relations, room, room)),
            np.full(self.n_relations, -self.margin),
            self.concentration or FIRST_CONCENTRATION, tuning, 0.0,
        )  # fmt: skip

    def traces(self, chain: Chain) -> dict[str, float]:
        """Figures of the features, energy of the links, what moved."""
        found = invariants(chain.features.matrix)
        return {
            **found,
            "hinge": float(energy_of_links(chain.view)),
            "concentration": chain.concentration,
            "changed": chain.changed,
            "accepted": chain.accepted,
        }

    def draw(self, chain: Chain) -> Draw:
        """Features and their weights."""
        size = int(chain.features.size[0])
        weights = chain.weights[:, :size, :size].copy()
        return Draw(chain.features.matrix, weights, chain.intercept.copy())

    def moving(self, chain: Chain) -> dict[str, Any]:
        """What a sweep changes."""
        kept = {name: getattr(chain, name) for name in MOVING}
        return {**kept, "features": list(chain.features)}

    def resume(self, moving: dict[str, Any]) -> Chain:
        """The chain that had this state."""
        return Chain(self, **{**moving, "features": Features(*moving["features"])})
