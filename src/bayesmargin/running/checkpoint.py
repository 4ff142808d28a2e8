"""Checkpoints: a fit puts its state down from time to time, and goes on from it, bit by bit.

When to write, and which fit may go on from a checkpoint is decided here; Ctrl-C is noted by
:mod:`~bayesmargin.running.interrupts`, and :mod:`~bayesmargin.saving.state_folder` puts states on
the disk.
"""

import contextlib
import copy
import json
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import CheckpointError, CheckpointWarning
from bayesmargin.foundation.settings import PATH
from bayesmargin.running.interrupts import Interruptible, Stopped
from bayesmargin.saving.state_folder import NEWEST, PREVIOUS, StateFolder

__all__ = ["NEWEST", "PREVIOUS", "Checkpoint", "NoCheckpoint"]
LARGEST_SHARE = 0.01  # of the time that may go into writing; rarer checkpoints keep to it

Document = Callable[[], tuple[Any, Sequence[np.ndarray]]]


class NoCheckpoint(Interruptible):
    """What a fit without a checkpoint holds: nothing is found, nothing is written."""

    active = False
    state: Any = None

    def __init__(self, random_state: Any) -> None:
        self.random_state = random_state

    def pause(self, document: Document) -> None:
        """Stop the run under way when asked to."""
        if self.interrupted:
            self.interrupted = False  # another run of the fit may follow
            raise Stopped

    def due(self) -> bool:
        """Never."""
        return False


class Checkpoint(Interruptible):
    """The checkpoint of one fit.

    Parameters
    ----------
    path : path-like
        Folder of the checkpoint.
    every : float
        Seconds between two checkpoints; more where writing one takes over a hundredth of that.
    data, settings
        Fingerprints; a checkpoint found at the path must have the same.
    random_state
        The estimator's; the checkpoint keeps what is needed to draw the same numbers again.

    Attributes
    ----------
    state : any
        What was last stored, or None for a fit that begins.
    random_state : any
        What the fit must spawn its generators from.
    stopped : bool
        Whether the fit was stopped by the user after its last state was stored.
    """

    active = True
    even_if_ignored = True  # whoever wants a checkpoint wants to stop

    def __init__(
        self, path: Any, every: float, data: str, settings: dict[str, str], random_state: Any
    ) -> None:
        self.path = Path(path)
        self.every = float(every)
        self.interrupted = self.stopped = False
        self._facts: dict[str, Any] = {"data": data, "settings": settings}
        self._lock = threading.Lock()
        self._pause, self._warned = 0.0, False
        self._folder = StateFolder(self.path)
        found = self._folder.find(self._require_same)
        if found is None:
            self.state = None
            if random_state is None:
                random_state = secrets.randbits(128)
            # Spawning changes a generator: the checkpoint keeps it as it was.
            self._seed = copy.deepcopy(random_state)
            self.random_state = random_state
        else:
            self.state, self._seed = found["state"], found["random_state"]
            self.random_state = copy.deepcopy(self._seed)
        self._last = time.perf_counter()

    def due(self) -> bool:
        """Whether it is time to write."""
        return time.perf_counter() - self._last >= max(self.every, self._pause)

    def pause(self, document: Document) -> None:
        """Called where the state is whole: writes it when due, and stops the fit when asked to.

        Parameters
        ----------
        document : callable
            Gives the state, and those of its arrays that will never change.
        """
        if not (self.interrupted or self.due()):
            return
        with self._lock:
            self.write(*document())
        if self.interrupted:
            self.stopped = True
            raise Stopped

    def write(self, state: Any, fixed: Sequence[np.ndarray] = ()) -> None:
        """Store a state; a disk that fails is reported by a warning, and the fit goes on."""
        began = time.perf_counter()
        try:
            self._write(state, fixed)
        except OSError as error:
            self._warn(
                f"the checkpoint {self.path} could not be written ({error}); the fit goes on, and "
                "the checkpoint before it is still there if there was one"
            )
        self._last = time.perf_counter()
        self._pause = (self._last - began) / LARGEST_SHARE

    def _warn(self, message: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(message, CheckpointWarning, stacklevel=2)

    def _write(self, state: Any, fixed: Sequence[np.ndarray]) -> None:
        self._folder.write(self._facts, self._seed, state, fixed)

    def _require_same(self, document: Any) -> None:
        mine: dict[str, Any] = self._facts["settings"]
        theirs: dict[str, Any] = document["settings"]
        if mine != theirs:
            told = ", ".join(
                f"{path}={before:.60} (now {now:.60})"
                for path, before, now in _differences(theirs, mine)[:5]
            )
            raise CheckpointError(
                f"the checkpoint {self.path} belongs to other settings: {told}. Use these, remove "
                "the folder, or choose another checkpoint"
            )
        if self._facts["data"] != document["data"]:
            raise CheckpointError(
                f"the checkpoint {self.path} belongs to other data: fit the rows and labels it was "
                "made for, remove the folder, or choose another checkpoint"
            )

    def remove(self) -> None:
        """Remove the files of the checkpoint, and its folder when nothing else is in it.

        A disk that fails is reported by a warning: the fit is complete, and not lost for that.
        """
        try:
            self._folder.remove()
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self.path} could not be removed ({error}): the fit is complete, "
                "remove the folder before the next",
                CheckpointWarning,
                stacklevel=2,
            )


def _differences(before: Any, now: Any, path: str = "") -> list[tuple[str, str, str]]:
    """Settings that differ, by their paths, with either value; objects are looked into.

    Examples
    --------
    >>> from bayesmargin.running.checkpoint import _differences
    >>> _differences({"step": "0.1", "C": "1"}, {"step": "0.2", "C": "1"})
    [('step', '0.1', '0.2')]
    >>> old, new = ('{"object": "Walk", "fields": {"step": %s}}' % step for step in (0.1, 0.2))
    >>> _differences({"sampler": old}, {"sampler": new})
    [('sampler__step', '0.1', '0.2')]
    """
    before, now = _inside(before), _inside(now)
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return [(path, str(before), str(now))] if before != now else []
    found = []
    for key in {**before, **now}:
        below = f"{path}{PATH}{key}" if path else str(key)
        found += _differences(before.get(key), now.get(key), below)
    return found


def _inside(value: Any) -> Any:
    """The fields of an object that was stored as text; other values as they are."""
    if isinstance(value, str) and value.startswith('{"object"'):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    return value["fields"] if isinstance(value, dict) and "fields" in value else value
