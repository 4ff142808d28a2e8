"""Where a fitted model is kept: its place tried before the fit, another one found if it fails."""

import tempfile
from pathlib import Path
from typing import Any

from bayesmargin.cli.failures import FAILURE, CommandError, usage_error


def require_place(path: Path) -> None:
    """Say before a long fit that the model could not be written."""
    from bayesmargin.saving.places import hindrance

    why = hindrance(path)
    if why is not None:
        raise usage_error(f"--output {path} {why}: choose another folder")
    place = next(folder for folder in path.absolute().parents if folder.exists())
    if not place.is_dir():
        raise usage_error(f"--output {path} cannot be made: {place} is a file")
    try:
        Path(tempfile.mkdtemp(prefix=".bayesmargin-", dir=place)).rmdir()
    except OSError as error:
        raise CommandError(
            f"--output {path} could not be written: nothing can be made in {place} "
            f"({error.strerror})",
            FAILURE,
        ) from error


def require_apart(output: Path, checkpoint: Path) -> None:
    """Refuse a checkpoint in the folder of the model, or the other way round.

    Each refuses a folder that holds other things, so that the fit could not be resumed.
    """
    one, other = output.resolve(), checkpoint.resolve()
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise usage_error(
            f"--output {output} and --checkpoint {checkpoint} need folders of their own"
        )


def keep_model(estimator: Any, path: Path, extras: dict[str, Any]) -> None:
    """Save a model; where that fails it is saved in the temporary folder, and that is told.

    The disk may be full, or something may have been put into the folder since the fit began.
    """
    from bayesmargin import saving
    from bayesmargin.saving.places import hindrance

    try:
        saving.write_model(estimator, path, extras=extras)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError):
            reason = f"{path} could not be written ({error.strerror})"
        else:
            why = hindrance(path)
            if why is None:
                raise
            reason = f"{path} {why}"
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="bayesmargin-")) / "model"
            saving.write_model(estimator, elsewhere, extras=extras)
        except OSError:
            raise CommandError(f"{reason}, nor anywhere else: the model is lost") from error
        raise CommandError(f"{reason}; the model is in {elsewhere}: move it") from error
