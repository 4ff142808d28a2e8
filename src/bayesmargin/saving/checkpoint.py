"""Checkpoints: the state of a fit on disk, so that it can go on after a crash, bit by bit.

A checkpoint is a folder. ``newest.json`` and ``previous.json`` describe the last two states; the
arrays lie in ``*.part`` files, which are written once and shared: draws that were stored before are
not stored again. A description is put in place by a rename after everything it names is on the
disk, so that a crash at any moment leaves a whole one.
"""

import copy
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import bayesmargin
from bayesmargin.errors import CheckpointError, CheckpointWarning
from bayesmargin.saving.codec import Decoder, Encoder, whole
from bayesmargin.saving.files import hashing, sealed, settle, unsealed
from bayesmargin.saving.parts import read_parts, write_part

FORMAT = 1
NEWEST, PREVIOUS, DRAFT = "newest.json", "previous.json", "draft.json"
LARGEST_SHARE = 0.01  # of the time that may go into writing; rarer checkpoints keep to it

Document = Callable[[], tuple[Any, Sequence[np.ndarray]]]


class NoCheckpoint:
    """What a fit without a checkpoint holds: nothing is found, nothing is written."""

    active = False
    state: Any = None
    interrupted = False

    def __init__(self, random_state: Any) -> None:
        self.random_state = random_state

    def pause(self, document: Document) -> None:
        """Go on."""

    def due(self) -> bool:
        """Never."""
        return False


class Checkpoint:
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

    def __init__(
        self, path: Any, every: float, data: str, settings: dict[str, str], random_state: Any
    ) -> None:
        self.path = Path(path)
        self.every = float(every)
        self.interrupted = self.stopped = False
        self._facts = {"data": data, "settings": settings}
        self._lock = threading.Lock()
        self._stored: dict[int, tuple[np.ndarray, dict[str, Any]]] = {}
        self._number, self._pause = 0, 0.0
        self._warned = self._newest_is_damaged = False
        _require_folder(self.path)
        found = self._find()
        if found is None:
            self.state = None
            if random_state is None:
                random_state = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
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
            raise KeyboardInterrupt

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
        encoder = Encoder()
        encoded = encoder.encode(state, "state")
        seed = encoder.encode(self._seed, "random_state")
        lasting = {id(array) for array in fixed}
        self.path.mkdir(parents=True, exist_ok=True)
        self._number += 1
        known: dict[int, tuple[np.ndarray, dict[str, Any]]] = {}
        table: dict[str, Any] = {}
        fresh: dict[str, Any] = {}
        # Arrays that last go into a file of their own, so that the others can be thrown away.
        for lasts in (True, False):
            part = f"{self._number:06d}{'k' if lasts else 's'}.part"
            chosen = {
                name: array
                for name, array in encoder.arrays.items()
                if (id(array) in lasting) == lasts and id(array) not in self._stored
            }
            if chosen:
                fresh[part], places = write_part(self.path / part, chosen)
                table.update(places)
                for name in chosen if lasts else ():
                    known[id(chosen[name])] = (chosen[name], {**places[name], **fresh[part]})
        for name, array in encoder.arrays.items():
            if name not in table:
                known[id(array)] = self._stored[id(array)]
                table[name] = known[id(array)][1]
            else:
                table[name] = {**table[name], **fresh[table[name]["part"]]}
        document = {
            "format": FORMAT,
            "library": bayesmargin.__version__,
            "number": self._number,
            **self._facts,
            "random_state": seed,
            "state": encoded,
            "arrays": table,
        }
        draft = self.path / DRAFT
        draft.unlink(missing_ok=True)
        with hashing(draft) as file:
            file.write(sealed(document))
        settle(self.path)
        if (self.path / NEWEST).exists() and not self._newest_is_damaged:
            (self.path / NEWEST).replace(self.path / PREVIOUS)
        draft.replace(self.path / NEWEST)
        settle(self.path)
        self._stored, self._newest_is_damaged = known, False
        self._sweep_up()

    def _sweep_up(self) -> None:
        """Remove parts that neither description names."""
        used = set()
        for name in (NEWEST, PREVIOUS):
            try:
                arrays = unsealed((self.path / name).read_bytes())["arrays"]
            except (OSError, ValueError, KeyError):
                continue
            used |= {facts["part"] for facts in arrays.values()}
        for part in self.path.glob("*.part"):
            if part.name not in used:
                part.unlink(missing_ok=True)

    def _find(self) -> dict[str, Any] | None:
        """What the folder holds, the newest that is whole."""
        present = [name for name in (NEWEST, PREVIOUS) if (self.path / name).is_file()]
        complaints: list[str] = []
        for name in present:
            try:
                found = self._read(self.path / name)
            except CheckpointError:
                raise
            except Exception as error:
                complaints.append(f"{name}: {error}")
                continue
            if complaints:
                self._newest_is_damaged = True
                warnings.warn(
                    f"the newest checkpoint in {self.path} is damaged ({complaints[0]}); the one "
                    "before it is used",
                    CheckpointWarning,
                    stacklevel=2,
                )
            return found
        if present:
            raise CheckpointError(
                f"the checkpoint {self.path} is damaged ({'; '.join(complaints)}): remove the "
                "folder to begin anew, or choose another checkpoint"
            )
        return None

    def _read(self, path: Path) -> dict[str, Any]:
        document = unsealed(path.read_bytes())
        version = document["library"]
        if document["format"] != FORMAT or version != bayesmargin.__version__:
            raise CheckpointError(
                f"the checkpoint {self.path} was written by bayesmargin {version!s:.20}, this is "
                f"{bayesmargin.__version__}: only the same version can go on from it; remove the "
                "folder to begin anew"
            )
        self._require_same(document)
        arrays = read_parts(path.parent, document["arrays"])
        decoder = Decoder(arrays)
        self._number = whole(document["number"])
        return {key: decoder.decode(document[key]) for key in ("state", "random_state")}

    def _require_same(self, document: Any) -> None:
        mine, theirs = self._facts["settings"], document["settings"]
        if mine != theirs:
            names = [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]  # type: ignore[attr-defined,dict-item]
            told = ", ".join(
                f"{key}={theirs.get(key)!s:.60} (now {mine.get(key)!s:.60})"  # type: ignore[attr-defined]
                for key in names[:5]
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
        """Remove the files of the checkpoint, and its folder when nothing else is in it."""
        # Descriptions first: a part without one is no checkpoint, the other way round is a damaged.
        for name in (NEWEST, PREVIOUS, DRAFT):
            (self.path / name).unlink(missing_ok=True)
        for part in self.path.glob("*.part"):
            part.unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    @contextmanager
    def watching(self) -> Iterator["Checkpoint"]:
        """Let the first Ctrl-C stop the fit where its state is whole; the second stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return

        def note(number: int, frame: FrameType | None) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        before = signal.signal(signal.SIGINT, note)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)


def _require_folder(path: Path) -> None:
    """Refuse paths at which a checkpoint would get in the way of something else."""
    if path.is_dir():
        strangers = [
            file.name
            for file in path.iterdir()
            if file.suffix != ".part" and file.name not in (NEWEST, PREVIOUS, DRAFT)
        ]
        if strangers:
            raise CheckpointError(
                f"checkpoint={str(path)!r} is a folder that holds other things ({strangers[0]}): "
                "choose a path of its own"
            )
    elif path.exists():
        raise CheckpointError(
            f"checkpoint={str(path)!r} is a file: a checkpoint is a folder; choose another path"
        )
