"""All arguments of a fit in one document, so that ``resume`` can repeat it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from bayesmargin.cli.failures import INTERRUPTED, UNTRUSTED, USAGE, CommandError
from bayesmargin.cli.output import beside


@dataclass(frozen=True)
class FitRequest:
    """What ``bayesmargin fit`` was asked to do."""

    data: str
    output: str
    model: str = "linear"
    seed: int = 0
    flags: dict[str, Any] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    labels: str | None = None
    scale: bool = True
    missing: str = "error"
    weighting: str | None = None
    vectorizer: tuple[str, ...] = ()
    validation: float = 0.2
    as_is: bool = False
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    strict: bool = False

    def to_json(self) -> dict[str, Any]:
        """The request as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "FitRequest":
        """A request from :meth:`to_json`."""
        known: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()
        }
        return cls(**known)

    def absolute(self) -> "FitRequest":
        """The same with paths that mean the same in every folder."""
        paths = {name: getattr(self, name) for name in ("data", "output", "labels", "checkpoint")}
        found: dict[str, Any] = {k: str(Path(v).absolute()) for k, v in paths.items() if v}
        return replace(self, **found)


# What may differ between two commands that go on from one checkpoint; rows and labels may have
# moved, and the checkpoint itself compares what they hold.
_FREE = ("data", "labels", "output", "checkpoint", "checkpoint_every", "strict")


def command_file(checkpoint: str | Path) -> Path:
    """Where the arguments of a fit are kept while its checkpoint is in use."""
    return beside(Path(checkpoint), ".command.json")


def require_own_checkpoint(request: FitRequest) -> None:
    """Refuse a checkpoint that holds the state of another fit, before its arguments are lost."""
    assert request.checkpoint is not None
    path = Path(request.checkpoint)
    if path.is_file():
        raise CommandError(
            f"--checkpoint {path} is a file: a checkpoint is a folder of its own", USAGE
        )
    if not has_state(path):
        return
    try:
        theirs = _decisive(read_command(path))
    except CommandError:  # none, or damaged: the checkpoint itself says whose it is
        return
    mine = _decisive(request)
    differing = [name for name in {**theirs, **mine} if mine.get(name) != theirs.get(name)]
    if differing:
        told = ", ".join(f"{k} {theirs.get(k)} (now {mine.get(k)})" for k in differing[:3])
        raise CommandError(
            f"the checkpoint {path} belongs to another fit: {told}. Go on with that by bayesmargin "
            f"resume {quote(str(path))}, choose another checkpoint, or remove {path} and "
            f"{command_file(path)}",
            UNTRUSTED,
        )


def _decisive(request: FitRequest) -> dict[str, Any]:
    """Arguments that change what a fit gives."""
    stored = request.absolute().to_json()
    flags = {**stored.pop("flags"), **stored.pop("reading")}
    words = {k: "id" if k == "identity" else k.replace("_", "-") for k in flags if k != "n-jobs"}
    named = {f"--{word}": flags[k] for k, word in words.items()}
    return {**{k: v for k, v in stored.items() if k not in _FREE}, **named}


def has_state(checkpoint: Path) -> bool:
    """Whether there is something at a checkpoint to go on from."""
    return any((checkpoint / name).is_file() for name in ("newest.json", "previous.json"))


@contextmanager
def kept_command(request: FitRequest) -> Iterator[None]:
    """Keep the arguments beside the checkpoint during a fit.

    A fit that the checkpoint refuses, or that fails before there is a state to go on from, leaves
    what was there before it.
    """
    if request.checkpoint is None:
        yield
        return
    path = command_file(request.checkpoint)
    before = path.read_bytes() if path.is_file() else None
    write_command(request)
    try:
        yield
    except Exception as error:
        refused = type(error).__name__ == "CheckpointError"
        interrupted = getattr(error, "code", None) == INTERRUPTED
        if refused or not (interrupted or has_state(Path(request.checkpoint))):
            path.unlink() if before is None else path.write_bytes(before)
        raise


def write_command(request: FitRequest) -> None:
    """Keep the arguments beside the checkpoint; whole or not at all."""
    from bayesmargin import __version__
    from bayesmargin.saving.files import whole_file

    assert request.checkpoint is not None
    document = {"library": __version__, "fit": request.absolute().to_json()}
    with (
        whole_file(command_file(request.checkpoint)) as draft,
        open(draft, "w", encoding="utf-8") as file,
    ):
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def read_command(checkpoint: Path) -> FitRequest:
    """The arguments kept beside a checkpoint, which may have been moved with them."""
    from bayesmargin import __version__

    path = command_file(checkpoint)
    if not path.is_file():
        raise CommandError(
            f"there is no {path}, which bayesmargin fit --checkpoint {checkpoint} writes: the fit "
            "is complete, or was started elsewhere",
            UNTRUSTED,
        )
    writer = __version__
    try:
        document = json.loads(path.read_bytes())
        writer = str(document["library"])
        return replace(FitRequest.from_json(document["fit"]), checkpoint=str(checkpoint))
    except (ValueError, KeyError, TypeError) as error:
        why = f"is damaged ({error})"
        if writer != __version__:
            why = f"was written by bayesmargin {writer:.20}, and this is {__version__}"
        raise CommandError(
            f"{path} {why}: start the fit again with its full command", UNTRUSTED
        ) from error
