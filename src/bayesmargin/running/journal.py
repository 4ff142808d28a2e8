"""What the chains of a linear model have done, so that a crashed run can be taken up again.

A run is deterministic but for its length in time: from the same seed the same chains are placed,
and the same decisions follow from the same draws. So it is enough to write down the draws and the
end state of every *stretch* (one call of the supervisor's ``advance``). A run that is taken up goes
through the same code again, gets the stretches that are written down from the journal, and makes
the rest.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.storage import draw_array
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint

MOST_PIECES = 64  # arrays into which the draws of a chain may be cut by checkpoints


def moving_parts(chain: Any) -> tuple[list[np.ndarray], np.random.Generator]:
    """The arrays that make the state of a chain, and its generator."""
    state, rng = chain.moving if hasattr(chain, "moving") else (chain.state, chain.rng)
    return list(state), rng


class Stretch:
    """One stretch of draws of all chains; ``record`` is what a checkpoint stores of it."""

    def __init__(self, journal: "Journal", chains: Sequence[Any], record: dict[str, Any]) -> None:
        self.journal, self.chains, self.record = journal, chains, record
        _rest(chains)
        self.starts = [moving_parts(chain)[1].bit_generator.state for chain in chains]
        self.behind = [len(chain.draws) for chain in chains]
        self.taken = list(self.behind)
        self.done = 0

    def restore(self, n_draws: int) -> None:
        """Bring the chains to where the record says they were."""
        if not self.record["chains"]:
            return
        for chain, told in zip(self.chains, self.record["chains"], strict=True):
            arrays, rng = moving_parts(chain)
            rng.bit_generator.state = told["rng"]
            for array, value in zip(arrays, told["state"], strict=True):
                array[...] = value
            if told.get("known") is not None:
                chain.recall(told["known"])
            chain.draws.extend(told["draws"])
            chain.trace.extend(told["trace"])
            if told["kept"] is not None:
                before = told["kept"]["made"] - self.record["done"]  # of earlier stretches
                _restore_kept(chain, told["kept"], before + n_draws, len(self.chains))
        self.taken = [len(chain.draws) for chain in self.chains]
        if self.record["failure"] is not None:
            raise DivergenceError(self.record["failure"])
        self.done = int(self.record["done"])

    @contextmanager
    def round(self, size: int) -> Iterator[None]:
        """Around one round of draws.

        How far the others came when one chain diverged depends on the clock: their generators are
        set to a place that does not.
        """
        try:
            yield
        except DivergenceError as error:
            for chain, start in zip(self.chains, self.starts, strict=True):
                bits = moving_parts(chain)[1].bit_generator
                bits.state = start
                if hasattr(bits, "jumped"):
                    bits.state = bits.jumped().state
            self.record["failure"] = str(error.args[0])
            self._capture()
            raise
        self.done += size

    def pause(self) -> None:
        """After a round: store the state when it is time."""
        self.journal.checkpoint.pause(self._document)

    def end(self) -> None:
        """After the last round."""
        _rest(self.chains)
        self._capture()

    def _document(self) -> tuple[Any, list[np.ndarray]]:
        self._capture()
        return self.journal.document()

    def _capture(self) -> None:
        if not self.journal.checkpoint.active:
            return
        before = self.record["chains"] or [None] * len(self.chains)
        self.record["done"] = self.done
        for k, (chain, behind) in enumerate(zip(self.chains, self.behind, strict=True)):
            first = self.taken[k] if self.taken[k] - behind < MOST_PIECES else behind
            _join(chain.draws, first)
            _join(chain.trace, first)
            self.taken[k] = len(chain.draws)
        self.record["chains"] = [
            _snapshot(chain, behind, old)
            for chain, behind, old in zip(self.chains, self.behind, before, strict=True)
        ]


def _rest(chains: Sequence[Any]) -> None:
    """Let chains forget what they find again: a stretch begins without, and keeps none of it."""
    for chain in chains:
        if hasattr(chain, "rest"):
            chain.rest()


def _join(parts: list[np.ndarray], first: int) -> None:
    """Make one array of those from ``first`` on, so that a long run has few of them."""
    if len(parts) - first > 1:
        parts[first:] = [np.concatenate(parts[first:])]


def _snapshot(chain: Any, behind: int, before: dict[str, Any] | None) -> dict[str, Any]:
    arrays, rng = moving_parts(chain)
    kept = None
    if getattr(chain, "store", None) is not None:
        kept = _kept(chain, before["kept"] if before else None)
    return {
        "state": [array.copy() for array in arrays],
        "rng": rng.bit_generator.state,
        "known": chain.known_now() if hasattr(chain, "known_now") else None,
        "draws": chain.draws[behind:],
        "trace": chain.trace[behind:],
        "kept": kept,
    }


def _kept(chain: Any, before: dict[str, Any] | None) -> dict[str, Any]:
    """Draws of a wide chain that lie in its store, and their moments."""
    interval = chain.store.interval
    pieces = list(before["pieces"]) if before else []
    if len(pieces) >= MOST_PIECES:
        pieces = []
    first, last = sum(map(len, pieces)), -(-chain.made // interval)
    if last > first:
        pieces.append(chain.store.array[chain.number, first:last])
    moments = chain.moments
    return {
        "made": chain.made,
        "interval": interval,
        "pieces": pieces,
        "moments": [moments.count, moments.mean.copy(), moments.squares.copy()],
    }


def _restore_kept(chain: Any, told: dict[str, Any], n_draws: int, n_chains: int) -> None:
    """Put the draws of a wide chain back into its store, which is to hold ``n_draws``."""
    store = chain.store
    if store.interval != told["interval"]:  # more or less of the disk was free
        store.interval = told["interval"]
        store.array = draw_array((n_chains, -(-n_draws // store.interval), store.array.shape[2]))
    chain.made = told["made"]
    chain.moments.count = told["moments"][0]
    chain.moments.mean[:], chain.moments.squares[:] = told["moments"][1:]
    first = 0
    for piece in told["pieces"]:
        store.array[chain.number, first : first + len(piece)] = piece
        first += len(piece)


class Journal:
    """All stretches of a fit; one-vs-rest fits have several runs in one journal."""

    def __init__(self, checkpoint: Checkpoint | NoCheckpoint | None = None) -> None:
        self.checkpoint = checkpoint or NoCheckpoint(None)
        self.records: list[dict[str, Any]] = self.checkpoint.state or []
        self._place = self._run = 0

    def begin_run(self) -> None:
        """A new problem begins."""
        self._run += 1

    def stretch(self, chains: Sequence[Any], n_draws: int) -> Stretch:
        """The next stretch: as written down, or new."""
        if not self.checkpoint.active:
            return Stretch(self, chains, {"failure": None, "chains": []})
        if self._place == len(self.records):
            self.records.append({"run": self._run, "done": 0, "failure": None, "chains": []})
        record = self.records[self._place]
        before = self.records[self._place - 1] if self._place else None
        if before is not None and before["run"] == record["run"]:
            for told in before["chains"]:
                told["kept"] = None  # a longer stretch takes the place of these draws
        self._place += 1
        stretch = Stretch(self, chains, record)
        stretch.restore(n_draws)
        return stretch

    def document(self) -> tuple[Any, list[np.ndarray]]:
        """What a checkpoint stores, and those arrays that will not change any more."""
        fixed: list[np.ndarray] = []
        for record in self.records:
            for told in record["chains"]:
                fixed += [*told["draws"], *told["trace"]]
                if told["kept"] is not None:
                    fixed += told["kept"]["pieces"]
        return self.records, fixed
