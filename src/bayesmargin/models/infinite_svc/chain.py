"""One chain: its state, how it starts, and the blocks of a sweep."""

import dataclasses
import functools
import math
from concurrent.futures import Executor
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import DirectCaller
from bayesmargin.foundation.streams import seed_from_generator
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.infinite_svc.assignments import sweep_assignments
from bayesmargin.models.infinite_svc.births import EXACT
from bayesmargin.models.infinite_svc.concentration import draw_concentration
from bayesmargin.models.infinite_svc.gaussian import (
    recompute,
    reset_to_prior,
)
from bayesmargin.models.infinite_svc.groups import GroupedSweep, begin_groups
from bayesmargin.models.infinite_svc.joining import join_components, largest_gain
from bayesmargin.models.infinite_svc.proposal_rows import Scratch, make_scratch
from bayesmargin.models.infinite_svc.split_merge import split_merge
from bayesmargin.models.infinite_svc.state import (
    Assignment,
    Base,
    Components,
    Hinge,
    Mixture,
    Rows,
    double_room,
    empty_components,
    group_members,
    room_for_radii,
)
from bayesmargin.models.infinite_svc.stein import stein_ratio
from bayesmargin.models.infinite_svc.weighing import make_work
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian
from bayesmargin.models.infinite_svc.weights_sweep import EXACT_METHODS, update_experts
from bayesmargin.running.gibbs import Move, sweep

_FIT_EVERY = 5  # sweeps after which experts are fitted to two components that might be one
_WARM_PASSES = 5  # of augmentation, with which experts start
_REBUILD_EVERY = 20  # sweeps after which rounding errors of rank-1 changes are cleared


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a sweep does; none of it changes the target, apart from the hinge and the prior."""

    hinge: Hinge
    method: Any  #: weights sampler, a NamedTuple of the ``weights_*`` files
    scheme: int = EXACT  #: new components: exact integral, or the number of auxiliary ones
    proposals: int = 0  #: split or merge proposals in a sweep
    scans: int = 3  #: rounds of hard assignment that shape a proposed split
    prior: tuple[float, float] | None = None  #: Gamma prior of the concentration; None: fixed
    groups: int = 1  #: of components that are swept side by side, see :mod:`.groups`


@dataclasses.dataclass
class Chain:
    """State of one chain; arrays and a generator, nothing else."""

    rng: np.random.Generator
    rows: Rows
    base: Base
    settings: Settings
    components: Components
    assignment: Assignment
    sides: Components  #: scratch of the split and merge moves, no part of the state
    visits: IntArray
    stream: Any  #: bits for methods that do with less than a generator
    concentration: float
    sweeps: int = 0
    moved: int = 0
    experts: float = math.nan  #: see :mod:`.stein`, after the last sweep over the rows
    elsewhere: float = 0.0  #: processor time of sweeps over the rows in the threads of ``pool``
    pool: Executor | None = None  #: threads for groups of components; None: one after another
    _call: DirectCaller = dataclasses.field(default_factory=DirectCaller, repr=False)

    @property
    def mixture(self) -> Mixture:
        """The state as the kernels take it; made anew, for parts are replaced when they grow."""
        hinge = self.settings.hinge
        return Mixture(self.rows, self.assignment, self.components, self.base, hinge)

    @functools.cached_property
    def empty(self) -> Components:
        """A component without members, in slot 0 of a store of its own."""
        empty = empty_components(1, self.rows.covariates.shape[1], 1, 1, self.base.diagonal)
        reset_to_prior(empty, self.base, 0)
        return empty

    def adapt(self) -> None:
        """Steer the step of a Metropolis method towards 70% acceptance (burn-in only)."""
        method, tries = self.settings.method, self.components.tries
        if isinstance(method, Hamiltonian) and tries[0] > 0:
            step = method.step * math.exp(0.3 * (tries[1] / tries[0] - 0.7))
            method = method._replace(step=step)
            self.settings = dataclasses.replace(self.settings, method=method)
        tries[:] = 0

    def warm_weights(self, passes: int = _WARM_PASSES) -> None:
        """Start the experts on their way to the posterior by a few passes of exact augmentation.

        Few, since experts that fit a wrong partition well stand in the way of its splits. What will
        move them later is looked up, too.
        """
        update_experts(Augmentation(passes), self.rng, self.mixture)
        self._call.look_up(update_experts, self.settings.method, self.source, self.mixture)

    @property
    def source(self) -> Any:
        """What the weights are drawn from; exact methods need normal variates of a generator."""
        return self.rng if isinstance(self.settings.method, EXACT_METHODS) else self.stream

    def sweep(self, learning: bool = False) -> None:
        """Move the assignments, the components, the concentration and the weights once."""
        sweep(BLOCKS, self, learning)

    def visit_rows(self) -> None:
        """Move the assignments of all rows."""
        self.moved = self._sweep_assignments()
        self.experts = stein_ratio(self.mixture)
        self.sweeps += 1
        if self.sweeps % _REBUILD_EVERY == 0:
            features = np.empty(self.components.form.shape[1])
            recompute(self.components, self.base, self.rows, self.assignment.slot, features)

    def split_and_merge(self) -> None:
        """Propose splits and merges."""
        for _ in range(self.settings.proposals):
            self._make_room()
            self._call(
                split_merge,
                self.rng,
                self.mixture,
                self.sides,
                self.concentration,
                self.settings.scans,
                self._scratch,
            )

    def draw_concentration(self) -> None:
        """Draw the concentration, where it has a prior."""
        if self.settings.prior is not None:
            self.concentration = draw_concentration(
                self.rng,
                self.concentration,
                int(self.components.size[0]),
                len(self.rows.labels),
                *self.settings.prior,
            )

    def move_experts(self) -> None:
        """Move the weights of all components."""
        self._call(update_experts, self.settings.method, self.source, self.mixture)

    def join(self, caution: float) -> int:
        """Join components where one is more probable than two; see :mod:`.joining`.

        Experts are fitted for it now and then, and again as long as that joins some.
        """
        joined = self._join(caution, False)
        if self.sweeps % _FIT_EVERY == 0:
            while found := self._join(caution, True):
                joined += found
        return joined

    def _join(self, caution: float, fit: bool) -> int:
        state = (self.mixture, self.sides, self.concentration)
        joined: int = self._call(join_components, self.rng, *state, caution, fit)
        return joined

    def joining_gain(self) -> float:
        """How much more probable, in nats, two components would be as one; zero if none would."""
        return float(largest_gain(self.mixture, self.sides, self.concentration))

    def _sweep_assignments(self) -> int:
        if self.settings.groups > 1:
            return self._sweep_groups()
        position = moved = 0
        while position < len(self.visits):
            position, change = self._call(
                sweep_assignments,
                self.rng,
                self.visits,
                position,
                self.mixture,
                self.concentration,
                self.settings.scheme,
                make_work(self.components, max(self.settings.scheme, 1), self.empty),
            )
            moved += change
            self._make_room()
        return moved

    def _sweep_groups(self) -> int:
        """The same by groups of components, side by side in the threads of ``pool``."""
        begin_groups(self.mixture)
        grouped = GroupedSweep(self.rng, self.mixture, self.visits, self.settings.groups)
        moved, scheme = 0, self.settings.scheme
        while not grouped.done:
            state = (self.mixture, self.concentration, scheme, self.empty)
            moved += grouped.go_on(self._call, *state, self.pool)
            self._make_room(wanted=not grouped.done)
        group_members(self.assignment)
        self.elsewhere += grouped.seconds
        return moved

    def _make_room(self, wanted: bool = False) -> None:
        """Keep a free slot: births need one, a split needs one. More of them where ``wanted``."""
        if wanted or self.components.size[0] == self.components.population.shape[0]:
            self.components, self.assignment = double_room(self.components, self.assignment)

    @functools.cached_property
    def _scratch(self) -> Scratch:
        """Room for proposals about any rows, no part of the state."""
        return make_scratch(len(self.rows.labels), self.components.form.shape[1])


class Assignments:
    """Components of the rows."""

    name = "assignments"

    def update(self, chain: Chain, learning: bool) -> None:
        """Visit every row; while it is learning the chain finds out about metrics."""
        chain.components.learning[0] = learning
        chain.visit_rows()


BLOCKS = (
    Assignments(),
    Move("split_merge", Chain.split_and_merge),
    Move("split_merge", Chain.draw_concentration),
    Move("weights", Chain.move_experts),
)


def start_chain(
    rng: np.random.Generator,
    rows: Rows,
    base: Base,
    settings: Settings,
    clusters: IntArray,
    classes: int,
    concentration: float,
) -> Chain:
    """Chain that begins at the partition ``clusters`` with weights at zero."""
    _, slots = np.unique(clusters, return_inverse=True)
    slots = slots.astype(np.int64)
    number = int(slots.max()) + 1
    capacity = max(8, 2 * number)
    dimension, columns = rows.covariates.shape[1], rows.design.shape[1]
    vectors = 1 if classes == 2 else classes
    components = empty_components(capacity, dimension, vectors, columns, base.diagonal)
    components.size[0] = number
    components.momentum[:] = rng.standard_normal(components.momentum.shape)
    recompute(components, base, rows, slots, np.empty(components.form.shape[1]))
    winner = rows.labels.copy()
    assignment = Assignment(
        slots,
        winner,
        np.empty_like(slots),
        np.zeros(capacity + 1, np.int64),
        room_for_radii(capacity, len(slots)),
    )
    group_members(assignment)
    sides = empty_components(3, dimension, vectors, columns, base.diagonal)
    stream = np.empty(1, np.uint64)
    seed_from_generator(stream, rng)
    return Chain(
        rng=rng,
        rows=rows,
        base=base,
        settings=settings,
        components=components,
        assignment=assignment,
        sides=sides,
        visits=np.arange(len(slots)),
        stream=stream,
        concentration=concentration,
    )
