"""Models with hidden variables: sweeps over the blocks of a state, in chains beside each other.

A block moves its part of the state in place, given all other parts; what others' moves have made
stale it makes anew where its own update begins. A model says of which blocks a sweep consists, how
a state begins, and what is kept of it. Rounds, threads, progress, checkpoints and Ctrl-C are those
of every other chain.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import run_chains
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.running.interrupts import Stopped
from bayesmargin.running.rounds import in_rounds


class Block(Protocol):
    """One kind of move of a sweep."""

    @property
    def name(self) -> str:
        """What its seconds are filed under."""

    def update(self, state: Any, learning: bool) -> None:
        """Move a part of the state given the others.

        While it is ``learning`` the state is dropped, and a block may find out about its steps.
        """


class Move(NamedTuple):
    """A block that is one call, of a method of the state for instance."""

    name: str
    move: Callable[[Any], None]

    def update(self, state: Any, learning: bool) -> None:
        """Make the call."""
        self.move(state)


class LatentModel(Protocol):
    """What a Gibbs sampler needs to know of a model."""

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks of a sweep, in order."""

    def begin(self, rng: np.random.Generator) -> Any:
        """The state of a chain, with the generator in it."""

    def traces(self, state: Any) -> Mapping[str, float]:
        """Figures that do not depend on how hidden variables are numbered."""

    def draw(self, state: Any) -> Any:
        """What predictions need of a state: copies."""

    def moving(self, state: Any) -> dict[str, Any]:
        """What a checkpoint keeps of a state."""

    def resume(self, moving: dict[str, Any]) -> Any:
        """The state that a checkpoint has kept."""


def sweep(
    blocks: Iterable[Block],
    state: Any,
    learning: bool = False,
    seconds: dict[str, float] | None = None,
) -> None:
    """Update every block once; ``seconds`` adds up the processor time of each by its name."""
    for block in blocks:
        start = time.thread_time()
        block.update(state, learning)
        if seconds is not None:
            spent = time.thread_time() - start
            seconds[block.name] = seconds.get(block.name, 0.0) + spent


class Gibbs:
    """One chain of a model with hidden variables.

    Parameters
    ----------
    model : LatentModel
        What is sampled.
    rng : Generator
        Its state begins with it.
    burn_in : int
        Sweeps in which blocks may learn about their steps.
    keep : collection of int
        Numbers, counted from 0, of the sweeps after which a draw is kept. Those of burn-in are for
        whoever watches, and go when it is over.
    most : int or None
        Draws that are held at once, the latest ones.

    Attributes
    ----------
    sweeps : int
        Sweeps made so far.
    draws : list
        The draws that were kept.
    traces : dict of lists
        Figures after every sweep, by name.
    seconds : dict
        Processor time by block, and of the "start".

    Examples
    --------
    Two correlated normal variables, each drawn given the other:

    >>> import numpy as np
    >>> from bayesmargin.running.gibbs import Gibbs
    >>> class Coordinate:
    ...     def __init__(self, j):
    ...         self.name, self.j = f"coordinate {j}", j
    ...     def update(self, state, learning):
    ...         other = state["x"][1 - self.j]
    ...         state["x"][self.j] = 0.8 * other + 0.6 * state["rng"].standard_normal()
    >>> class Pair:
    ...     blocks = (Coordinate(0), Coordinate(1))
    ...     def begin(self, rng):
    ...         return {"x": np.zeros(2), "rng": rng}
    ...     def traces(self, state):
    ...         return {"product": float(np.prod(state["x"]))}
    ...     def draw(self, state):
    ...         return state["x"].copy()
    ...     def moving(self, state):
    ...         return state
    ...     def resume(self, moving):
    ...         return moving
    >>> chain = Gibbs(Pair(), np.random.default_rng(0), burn_in=100, keep=range(100, 20100))
    >>> chain.run(20100)
    >>> bool(abs(np.corrcoef(np.array(chain.draws).T)[0, 1] - 0.8) < 0.02)
    True
    """

    def __init__(
        self,
        model: LatentModel,
        rng: np.random.Generator,
        burn_in: int,
        keep: Collection[int],
        most: int | None = None,
    ) -> None:
        self.model, self.burn_in, self.keep = model, burn_in, frozenset(map(int, keep))
        self.most = most
        self._rng = rng
        self.state: Any = None
        self.sweeps = 0
        self.draws: list[Any] = []
        self.traces: dict[str, list[float]] = {}
        self.seconds: dict[str, float] = {}

    def run(self, n_draws: int, thin: int = 1) -> None:
        """Make so many sweeps; the first call begins the state."""
        if self.state is None:
            start = time.thread_time()
            self.state = self.model.begin(self._rng)
            self.seconds["start"] = time.thread_time() - start
        for _ in range(n_draws * thin):
            if self.sweeps == self.burn_in:
                self.draws.clear()
            sweep(self.model.blocks, self.state, self.sweeps < self.burn_in, self.seconds)
            for name, value in self.model.traces(self.state).items():
                self.traces.setdefault(name, []).append(value)
            if self.sweeps in self.keep:
                self.draws.append(self.model.draw(self.state))
                del self.draws[: 0 if self.most is None else -self.most]
            self.sweeps += 1

    def stop(self) -> bool:
        """End here: the state is a draw where none was due yet; returns whether there are any."""
        if self.sweeps <= self.burn_in:
            return False
        if not self.draws:
            self.draws.append(self.model.draw(self.state))
        return True

    def kept(self, name: str, length: int | None = None) -> FloatArray:
        """A trace after burn-in, of the first ``length`` sweeps."""
        return np.array(self.traces[name][self.burn_in : length], dtype=float)

    def stored(self) -> dict[str, Any]:
        """What a checkpoint keeps of the chain."""
        state = self.model.moving(self.state)
        record = {"draws": self.draws, "traces": self.traces, "seconds": self.seconds}
        return {"state": state, "sweeps": self.sweeps, **record}

    def take_up(self, stored: dict[str, Any]) -> None:
        """Go on from what a checkpoint has kept."""
        self.state = self.model.resume(stored["state"])
        self.sweeps, self.draws = stored["sweeps"], stored["draws"]
        self.traces, self.seconds = stored["traces"], stored["seconds"]


def run_sweeps(
    chains: Sequence[Gibbs],
    n_sweeps: int,
    n_jobs: int | None,
    checkpoint: Checkpoint | NoCheckpoint,
    show: Callable[[int], None],
    fixed: int | None = None,
) -> bool:
    """Let all chains make their sweeps, from where a checkpoint has left them.

    Parameters
    ----------
    chains : sequence of Gibbs
        They keep step with each other, a round of some sweeps at a time.
    n_sweeps : int
        Sweeps of each in all.
    n_jobs : int or None
        Threads.
    checkpoint : Checkpoint or NoCheckpoint
        Where the states of the chains are put down.
    show : callable
        Hears after every round how many sweeps each chain has made.
    fixed : int or None
        Sweeps of a round, where it is not to be as long as it takes to be shown.

    Returns
    -------
    cut_short : bool
        Whether Ctrl-C has ended the run early. In burn-in, or with a checkpoint to go on from, it
        ends the fit.
    """
    if checkpoint.state is not None:
        for chain, stored in zip(chains, checkpoint.state, strict=True):
            chain.take_up(stored)
    before = chains[0].sweeps

    def document() -> tuple[Any, list[np.ndarray]]:
        fixed = [array for chain in chains for array in arrays_in(chain.draws)]
        return [chain.stored() for chain in chains], fixed

    def after(made: int) -> None:
        show(before + made)
        if before + made < n_sweeps or checkpoint.active:
            checkpoint.pause(document)

    try:
        with checkpoint.watching():
            in_rounds(
                lambda size: run_chains(chains, size, 1, n_jobs),
                n_sweeps - before, after, first=1, fixed=fixed,
            )  # fmt: skip
    except Stopped:
        if checkpoint.active or not all(chain.stop() for chain in chains):
            raise
        return True
    return False


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a nest of lists and tuples.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.running.gibbs import arrays_in
    >>> list(arrays_in([(np.zeros(1), 2.0), (np.ones(1), None)]))
    [array([0.]), array([1.])]
    """
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from arrays_in(part)
