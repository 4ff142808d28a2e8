"""``bayesmargin info``: what a saved model or a checkpoint is."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from bayesmargin.cli.options import Debug, Json, Quiet


def info(
    path: Annotated[
        Path, typer.Argument(help="A saved model or a checkpoint.", show_default=False)
    ],
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Describe a saved model, or the fit that a checkpoint belongs to."""
    from bayesmargin.cli.output import Output
    from bayesmargin.cli.request import command_file

    output = Output(as_json, quiet)
    waiting = command_file(path).is_file() and not (path / "manifest.json").is_file()
    document = _checkpoint(path) if waiting else _model(path)
    output.table(["", ""], [[key.replace("_", " "), _words(v)] for key, v in document.items()
                            if v is not None])  # fmt: skip
    output.answer(document)


def _model(path: Path) -> dict[str, Any]:
    from bayesmargin.cli.models import load_saved
    from bayesmargin.cli.output import plain
    from bayesmargin.cli.trust import diagnostics_document

    saved = load_saved(path)
    estimator, record = saved.estimator, saved.fit_record
    defaults = type(estimator)().get_params(deep=False)
    settings = estimator.get_params(deep=False)
    changed = {name: value for name, value in settings.items() if value != defaults[name]}
    preparation = saved.preparation
    return plain(
        {
            "kind": "model",
            "estimator": type(estimator).__name__,
            "settings": changed,
            "classes": getattr(estimator, "classes_", None),
            "features": int(estimator.n_features_in_),
            "data": record.get("data"),
            "training_rows": record.get("training_rows"),
            "validation": saved.extras.get("validation"),
            "preparation": None if preparation is None else preparation.summary(),
            "diagnostics": diagnostics_document(estimator),
            "library": record.get("library"),
            "seconds": record.get("seconds"),
        }
    )


def _checkpoint(path: Path) -> dict[str, Any]:
    from bayesmargin.cli.request import read_command

    request = read_command(path)
    return {
        "kind": "checkpoint",
        "written": path.exists(),
        "model": request.model,
        "data": request.data,
        "output": request.output,
        "settings": {
            **{k: v for k, v in request.flags.items() if v is not None},
            **dict(word.split("=", 1) for word in request.settings),
        },
        "seed": request.seed,
        "go_on_with": f"bayesmargin resume {quote(str(path))}",
    }


def _words(value: Any) -> str:
    """A value for people: the first few of many, dictionaries as ``name value``."""
    if isinstance(value, dict):
        if "summary" in value:
            return str(value["summary"])
        return ", ".join(
            f"{key} {_words(item)}" for key, item in value.items() if item or item == 0
        )
    if isinstance(value, list):
        shown = ", ".join(str(item) for item in value[:12])
        return shown if len(value) <= 12 else f"{shown} and {len(value) - 12} more"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
