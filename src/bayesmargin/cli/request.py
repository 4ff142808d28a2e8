"""All arguments of a fit in one document, so that ``resume`` can repeat it."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bayesmargin.cli.failures import UNTRUSTED, CommandError


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


def command_file(checkpoint: str | Path) -> Path:
    """Where the arguments of a fit are kept while its checkpoint is in use."""
    path = Path(checkpoint)
    return path.with_name(path.name + ".command.json")


def write_command(request: FitRequest) -> None:
    """Keep the arguments beside the checkpoint; whole or not at all."""
    from bayesmargin import __version__

    assert request.checkpoint is not None
    path = command_file(request.checkpoint)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    document = {"library": __version__, "fit": request.absolute().to_json()}
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_command(checkpoint: Path) -> FitRequest:
    """The arguments kept beside a checkpoint."""
    path = command_file(checkpoint)
    if not path.is_file():
        raise CommandError(
            f"there is no {path}, which bayesmargin fit --checkpoint {checkpoint} writes: the fit "
            "is complete, or was started elsewhere",
            UNTRUSTED,
        )
    try:
        return FitRequest.from_json(json.loads(path.read_bytes())["fit"])
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(
            f"{path} is damaged ({error}): start the fit again with its full command", UNTRUSTED
        ) from error
