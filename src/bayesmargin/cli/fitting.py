"""A fit from its arguments: read, hold out, prepare, sample, score, save."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from bayesmargin.cli.estimators import ModelFlags, make_estimator, require_allowed
from bayesmargin.cli.failures import DATA, DOUBTFUL, INTERRUPTED, CommandError, usage_error
from bayesmargin.cli.keeping import keep_model, require_apart, require_place
from bayesmargin.cli.measured import told_scores, value_scores
from bayesmargin.cli.models import Rows, predicts_values, prepared
from bayesmargin.cli.output import Output, plain
from bayesmargin.cli.preparing import make_preparation, require_preparation, told_covariates
from bayesmargin.cli.request import (
    FitRequest,
    command_file,
    kept_command,
    require_own_checkpoint,
)
from bayesmargin.cli.stamps import stamps_of
from bayesmargin.cli.stopping import stoppable
from bayesmargin.cli.trust import diagnostics_document, trust
from bayesmargin.models.registry import WORDS


@dataclass
class Material:
    """Rows to learn from and rows held out, with how they were made."""

    training: Rows
    held_out: Rows | None
    preparation: Any
    remarks: list[str]
    stamps: dict[str, str] = field(default_factory=dict)  #: of the files, before they were read


def run_fit(request: FitRequest, output: Output) -> int:
    """Carry out a fit; returns the exit code."""
    from bayesmargin.models.saved.mixin import checkpoints_outlive_fits

    if not Path(request.data).exists():
        raise CommandError(f"there is no file or folder {request.data}", DATA)
    require_place(Path(request.output))
    if request.checkpoint is not None:
        require_apart(Path(request.output), Path(request.checkpoint))
        require_own_checkpoint(request)
    estimator = make_estimator(
        ModelFlags(request.model, request.seed, request.flags, request.settings),
        request.checkpoint,
        request.checkpoint_every,
    )
    require_allowed(estimator)
    require_preparation(request)
    material = gather(request, estimator)
    for remark in material.remarks:
        output.note(remark)
    rows = material.training.X
    covariates = told_covariates(estimator, material.preparation, rows)
    if covariates is not None:
        output.remark(covariates)
    began = time.perf_counter()
    with output.catching_warnings(), checkpoints_outlive_fits():
        with kept_command(request):
            interrupted = _sample(estimator, material, request, output)
        seconds = time.perf_counter() - began
        validation, scored = _validate(estimator, material, output)
        document = _finish(estimator, material, request, seconds, validation)
    _say(document, output)
    if interrupted:
        output.warn(f"{request.output} holds the draws made until the interrupt{_resume(request)}")
    output.answer({**document, "interrupted": interrupted or not scored})
    if request.checkpoint is not None and not interrupted:
        command_file(request.checkpoint).unlink(missing_ok=True)
    if interrupted or not scored:
        return INTERRUPTED
    good, _ = trust(estimator)
    return DOUBTFUL if request.strict and good is False else 0


def gather(request: FitRequest, estimator: Any) -> Material:
    """Read the data, hold rows out and prepare both parts."""
    from bayesmargin.tables import Reading, read_table
    from bayesmargin.tables.labels import look_alikes, unwatched

    asked = request.absolute()
    reading = Reading.from_json({**request.reading, "labels": request.labels})
    measured = predicts_values(estimator)
    reading = replace(reading, measured=measured)
    if request.as_is:
        return _gather_as_is(request, reading)
    stamps = stamps_of(asked.data, asked.labels)
    table = read_table(request.data, reading)
    preparation = make_preparation(request, table.kind)
    preparation.inspect(table)
    table = usable_rows(table, preparation)
    training, held = split_table(table, request.validation, request.seed, measured)
    preparation.fit(training)
    rows = prepared(training, preparation, estimator, drop=True)
    remarks = [*table.remarks, *look_alikes(table.labels), *preparation.remarks]
    if request.validation and not measured:
        remarks += unwatched(table.labels, [] if held is None else held.labels)
    apart = None if held is None else prepared(held, preparation, estimator, drop=True)
    if apart is not None:
        remarks += [f"held-out rows: {r}" for r in apart.remarks if r not in table.remarks]
        apart = apart if len(apart.y) else None
    return Material(rows, apart, preparation, remarks, stamps)


def usable_rows(table: Any, preparation: Any) -> Any:
    """The rows that can be used; others go before the split, so that no class loses all to it."""
    usable = preparation.complete(table)
    return table if usable.all() else table.take(usable)


def split_table(table: Any, share: float, seed: int, measured: bool = False) -> tuple[Any, Any]:
    """Rows to learn from and rows held out (None when there are none).

    Of labels that are measured no class has a share of its own.
    """
    import numpy as np

    from bayesmargin.errors import DataError
    from bayesmargin.tables.splitting import split_rows

    if measured:
        kept, held = split_rows(np.zeros(len(table)), share, seed)
        return table.take(kept), (table.take(held) if len(held) else None)
    classes = np.unique(table.labels)
    if len(classes) < 2:
        raise DataError(
            f"{table.source} has only one class, {str(classes[0])!r}: at least 2 are needed"
        )
    if len(classes) > max(2, len(table) // 2):
        raise DataError(
            f"the target of {table.source} has {len(classes):,} classes in {len(table):,} rows: "
            "it is a name or a measurement and not a class"
        )
    kept, held = split_rows(table.labels, share, seed)
    return table.take(kept), (table.take(held) if len(held) else None)


def _gather_as_is(request: FitRequest, reading: Any) -> Material:
    from bayesmargin.cli.as_is import open_as_is

    if not WORDS[request.model].piecewise:
        able = " or ".join(model.word for model in WORDS.values() if model.piecewise)
        raise usage_error(f"--as-is goes with --model {able}, not with {request.model}")
    rows = open_as_is(Path(request.data), reading, needed=True)
    return Material(Rows(rows, rows.labels), None, None, [])


def _sample(estimator: Any, material: Material, request: FitRequest, output: Output) -> bool:
    """Fit the estimator with a live display; returns whether it was interrupted."""
    from bayesmargin.errors import DataError
    from bayesmargin.running.progress import Silence, display, watching

    shown = Silence() if output.quiet else display()
    held = material.held_out
    known = None if held is None else (held.X, held.y)
    rows = material.training
    try:
        with output.catching_warnings(), watching(shown, known), stoppable():
            estimator.fit(rows.X) if request.as_is else estimator.fit(rows.X, rows.y)
    except KeyboardInterrupt as error:
        raise CommandError(_how_to_go_on(request), INTERRUPTED) from error
    except ValueError as error:
        kind = type(error).__name__
        if kind != "ValueError":
            raise
        message = " ".join(str(error).split())
        raise (usage_error(message) if "not allowed" in message else DataError(message)) from error
    return "InterruptedWarning" in output.categories


def _how_to_go_on(request: FitRequest) -> str:
    if request.checkpoint is None:
        return "interrupted; no model was written (a fit with --checkpoint FOLDER can be resumed)"
    return f"interrupted{_resume(request)}"


def _resume(request: FitRequest) -> str:
    """The advice to go on, where there is a checkpoint to go on from."""
    if request.checkpoint is None:
        return ""
    return f"; go on with: bayesmargin resume {quote(request.checkpoint)}"


def _validate(
    estimator: Any, material: Material, output: Output
) -> tuple[dict[str, float] | None, bool]:
    """Scores of the held-out rows, and whether there was time for them.

    A request to stop that comes so late does not cost the model.
    """
    if material.held_out is None:
        return None, True
    try:
        with stoppable():
            return score(estimator, material.held_out), True
    except KeyboardInterrupt:
        output.warn(
            "interrupted: the model is saved without scores of the held-out rows, which "
            "bayesmargin report gives"
        )
        return None, False


def _finish(
    estimator: Any,
    material: Material,
    request: FitRequest,
    seconds: float,
    validation: dict[str, float] | None,
) -> dict[str, Any]:
    """Save the model, and describe what was done."""
    from bayesmargin import __version__

    preparation = material.preparation
    posterior: Any = getattr(estimator, "posterior_", None)
    if preparation is not None and hasattr(posterior, "coords"):
        posterior.coords["feature"] = list(preparation.feature_names)
    record = {
        **request.absolute().to_json(),
        "library": __version__,
        "stamps": material.stamps,
        "training_rows": int(material.training.X.shape[0]),
        "validation_rows": 0 if material.held_out is None else len(material.held_out.y),
        "seconds": seconds,
    }
    extras: dict[str, Any] = {"fit": record, "reading": request.reading}
    if preparation is not None:
        extras["preparation"] = preparation.to_json()
        if preparation.kind != "text":
            extras["feature_names"] = preparation.feature_names
    if validation is not None:
        extras["validation"] = validation
    estimator.set_params(**{k: None for k in ("checkpoint",) if k in estimator.get_params()})
    keep_model(estimator, Path(request.output), plain(extras))
    return {
        "model": request.output,
        "estimator": type(estimator).__name__,
        "data": request.data,
        "rows": {"training": record["training_rows"], "validation": record["validation_rows"]},
        "classes": getattr(estimator, "classes_", None),
        "features": int(estimator.n_features_in_),
        "preparation": None if preparation is None else preparation.summary(),
        "validation": validation,
        "diagnostics": diagnostics_document(estimator),
        "seed": request.seed,
        "seconds": seconds,
    }


def score(estimator: Any, rows: Rows) -> dict[str, float]:
    """Scores of the held-out rows."""
    if predicts_values(estimator):
        return value_scores(estimator, rows.X, rows.y)
    from bayesmargin.calibration.scoring import scores
    from bayesmargin.cli.forecasts import codes, judge

    truth = codes(rows.y, estimator.classes_)
    return scores(truth, *judge(estimator, rows.X))


def _say(document: dict[str, Any], output: Output) -> None:
    from bayesmargin.tables.table import count

    rows, features = document["rows"], count(document["features"], "feature")
    classes = document["classes"]
    answers = "" if classes is None else f"{len(classes)} classes, "
    output.line(
        f"{document['estimator']} on {count(rows['training'], 'row')}, {features}, "
        f"{answers}in {document['seconds']:.1f} s."
    )
    done = _preparation_words(document["preparation"])
    if done:
        output.line(done)
    if document["validation"]:
        found = document["validation"]
        scores = (
            f"accuracy {found['accuracy']:.4f}, log loss {found['log_loss']:.4f}, Brier "
            f"{found['brier']:.4f}, calibration error {found['calibration_error']:.4f}."
            if classes is not None
            else told_scores(found)
        )
        output.line(f"On {count(rows['validation'], 'held-out row')}: {scores}")
    output.line(document["diagnostics"]["summary"])
    output.line(f"Saved in {document['model']}.")


def _preparation_words(summary: dict[str, Any] | None) -> str:
    """What became of the columns, in a sentence."""
    if summary is None:
        return "Columns were read as they are."
    if "weighting" in summary:
        how = "counted" if summary["weighting"] == "counts" else "weighted by rarity (tf-idf)"
        return f"{summary['features']:,} words {how}."
    if "numbers" not in summary:
        return "Numbers standardised." if summary["standardised"] else "Numbers left as they are."
    from bayesmargin.tables.table import count

    parts = []
    if summary["numbers"]:
        how = "standardised" if summary["standardised"] else "left as they are"
        parts.append(f"{count(summary['numbers'], 'number')} {how}")
    if summary["indicators"]:
        parts.append(f"{count(summary['indicators'], 'column')} of 0 and 1 left alone")
    if summary["categories"]:
        levels = sum(summary["categories"].values())
        several = len(summary["categories"])
        named = "1 category" if several == 1 else f"{several:,} categories"
        parts.append(f"{named} encoded as {count(levels, 'column')}")
    return f"{'; '.join(parts)}."
