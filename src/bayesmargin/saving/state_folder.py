"""The folder of a checkpoint: the last two states of a fit, whole whatever happens meanwhile.

``newest.json`` and ``previous.json`` describe the two states; the arrays lie in ``*.part`` files,
which are written once and shared: draws that were stored before are not stored again. A description
is put in place by a rename after everything it names is on the disk, so that a crash at any moment
leaves a whole one.
"""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import bayesmargin
from bayesmargin.errors import CheckpointError, CheckpointWarning
from bayesmargin.saving.codec import Decoder, Encoder, whole
from bayesmargin.saving.files import hashing, sealed, settle, unsealed
from bayesmargin.saving.parts import read_parts, write_part

FORMAT = 3
NEWEST, PREVIOUS, DRAFT = "newest.json", "previous.json", "draft.json"

Stored = dict[int, tuple[np.ndarray, dict[str, Any]]]  #: by id, arrays and where they lie


class StateFolder:
    """States of one fit at a path.

    Raises
    ------
    CheckpointError
        If something else is at the path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0
        self._stored: Stored = {}
        self._newest_is_damaged = False
        _require_folder(path)

    def write(
        self, facts: dict[str, Any], seed: Any, state: Any, fixed: Sequence[np.ndarray]
    ) -> None:
        """Store a state.

        Parameters
        ----------
        facts : dict
            What a fit must have in common with this one to go on from the state.
        seed : any
            What the generators of the fit were spawned from.
        state : any
            The state.
        fixed : sequence of arrays
            Those of its arrays that will never change.
        """
        encoder = Encoder()
        encoded = encoder.encode(state, "state")
        encoded_seed = encoder.encode(seed, "random_state")
        self.path.mkdir(parents=True, exist_ok=True)
        self._number += 1
        table, known = self._write_arrays(encoder.arrays, {id(array) for array in fixed})
        document = {
            "format": FORMAT,
            "library": bayesmargin.__version__,
            "number": self._number,
            **facts,
            "random_state": encoded_seed,
            "state": encoded,
            "arrays": table,
        }
        self._put_in_place(sealed(document))
        self._stored = known
        self._sweep_up()

    def _write_arrays(
        self, arrays: dict[str, np.ndarray], lasting: set[int]
    ) -> tuple[dict[str, Any], Stored]:
        """Write the arrays that are not stored yet; returns where all lie, and those that last."""
        known: Stored = {}
        table: dict[str, Any] = {}
        fresh: dict[str, Any] = {}
        # Arrays that last go into a file of their own, so that the others can be thrown away.
        for lasts in (True, False):
            part = f"{self._number:06d}{'k' if lasts else 's'}.part"
            chosen = {
                name: array
                for name, array in arrays.items()
                if (id(array) in lasting) == lasts and id(array) not in self._stored
            }
            if chosen:
                fresh[part], places = write_part(self.path / part, chosen)
                table.update(places)
                for name in chosen if lasts else ():
                    known[id(chosen[name])] = (chosen[name], {**places[name], **fresh[part]})
        for name, array in arrays.items():
            if name not in table:
                known[id(array)] = self._stored[id(array)]
                table[name] = known[id(array)][1]
            else:
                table[name] = {**table[name], **fresh[table[name]["part"]]}
        return table, known

    def _put_in_place(self, description: bytes) -> None:
        """Make a description the newest; it is on the disk before it replaces another."""
        draft = self.path / DRAFT
        draft.unlink(missing_ok=True)
        with hashing(draft) as file:
            file.write(description)
        settle(self.path)
        if (self.path / NEWEST).exists() and not self._newest_is_damaged:
            (self.path / NEWEST).replace(self.path / PREVIOUS)
        draft.replace(self.path / NEWEST)
        settle(self.path)
        self._newest_is_damaged = False

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

    def find(self, check: Callable[[Any], None]) -> dict[str, Any] | None:
        """The newest state that is whole, with its seed as ``random_state``; None without any.

        ``check`` raises a ``CheckpointError`` for a description of another fit.
        """
        present = [name for name in (NEWEST, PREVIOUS) if (self.path / name).is_file()]
        complaints: list[str] = []
        for name in present:
            try:
                found = self._read(self.path / name, check)
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
                    stacklevel=3,
                )
            return found
        if present:
            raise CheckpointError(
                f"the checkpoint {self.path} is damaged ({'; '.join(complaints)}): remove the "
                "folder to begin anew, or choose another checkpoint"
            )
        return None

    def _read(self, path: Path, check: Callable[[Any], None]) -> dict[str, Any]:
        document = unsealed(path.read_bytes())
        version = document["library"]
        if document["format"] != FORMAT or version != bayesmargin.__version__:
            earlier = "an earlier " if version == bayesmargin.__version__ else ""
            raise CheckpointError(
                f"the checkpoint {self.path} was written by {earlier}bayesmargin {version!s:.20}, "
                f"this is {bayesmargin.__version__}: only the same version can go on from it; "
                "remove the folder to begin anew"
            )
        check(document)
        arrays = read_parts(path.parent, document["arrays"])
        decoder = Decoder(arrays)
        self._number = whole(document["number"])
        return {key: decoder.decode(document[key]) for key in ("state", "random_state")}

    def remove(self) -> None:
        """Remove the files of the checkpoint, and its folder when nothing else is in it.

        A folder that must stay, for a disk that is mounted there or one above that is not ours,
        serves the next fit.
        """
        # Descriptions first: a part without one is no checkpoint, the other way round is a damaged.
        for name in (NEWEST, PREVIOUS, DRAFT):
            (self.path / name).unlink(missing_ok=True)
        for part in self.path.glob("*.part"):
            part.unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            with suppress(OSError):
                self.path.rmdir()


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
