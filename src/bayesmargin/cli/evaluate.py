"""``bayesmargin evaluate``: how good a model is on labelled rows."""

from pathlib import Path
from shlex import quote
from typing import Any

from bayesmargin.cli.options import (
    Data,
    Debug,
    Format,
    Json,
    LabelFirst,
    Labels,
    Model,
    Quiet,
    Separator,
    Target,
    Text,
)

MOST_CONFUSIONS = 25  # classes up to which the whole confusion table is printed


def evaluate(
    model: Model,
    data: Data,
    target: Target = None,
    labels: Labels = None,
    text: Text = None,
    label_first: LabelFirst = False,
    format_: Format = None,
    separator: Separator = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score a model on labelled rows: accuracy, probabilities, classes, confusions."""
    from bayesmargin.calibration.scoring import class_table, confusion, scores
    from bayesmargin.cli.forecasts import codes, judge
    from bayesmargin.cli.measured import value_scores
    from bayesmargin.cli.models import load_saved, predicts_values, tell
    from bayesmargin.cli.output import Output

    output = Output(as_json, quiet)
    saved = load_saved(model)
    given = None if labels is None else str(labels)
    reading = saved.reading(
        target=target, labels=given, text=text, label_first=label_first or None, format=format_,
        separator=separator,
    )  # fmt: skip
    rows = saved.read(data, reading, labelled=True)
    tell(rows.remarks, output)
    if _familiar(saved, data):
        output.remark(
            f"The model has learned from {data}: its figures flatter; use other rows, or the "
            f"figures of rows held out, which bayesmargin info {quote(str(model))} shows."
        )
    if predicts_values(saved.estimator):
        values = value_scores(saved.estimator, rows.X, _labels(rows, data))
        table_rows = [[name, round(value, 4)] for name, value in values.items()]
        output.table(["score", "value"], table_rows, f"{len(rows.y):,} rows")
        output.answer({"model": str(model), "data": str(data), "rows": len(rows.y), **values})
        return
    classes = saved.estimator.classes_
    truth = codes(_labels(rows, data), classes)
    predicted, probability = judge(saved.estimator, rows.X)
    found = scores(truth, predicted, probability)
    table = class_table(truth, predicted, len(classes))
    counts = confusion(truth, predicted, len(classes))
    names = [str(name) for name in classes]
    _say(output, len(truth), found, names, table, counts)
    output.answer(
        {
            "model": str(model),
            "data": str(data),
            "rows": len(truth),
            **found,
            "classes": [{"class": name, **row} for name, row in zip(names, table, strict=True)],
            "confusion": counts,
        }
    )


def _familiar(saved: Any, data: Path) -> bool:
    """Whether a model was fitted to these rows."""
    learned = saved.fit_record.get("data")
    return learned is not None and Path(learned).exists() and data.samefile(learned)


def _labels(rows: Any, data: Any) -> Any:
    from bayesmargin.errors import DataError

    if rows.y is None:
        raise DataError(f"{data} holds no labels: name the column with --target, or pass --labels")
    return rows.y


def _say(
    output: Any, n_rows: int, found: dict[str, float], names: list[str], table: Any, counts: Any
) -> None:
    words = {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "log_loss": "log loss",
        "brier": "Brier score",
        "calibration_error": "calibration error",
    }
    output.table(
        ["score", "value"],
        [[words[key], round(value, 4)] for key, value in found.items()],
        f"{n_rows:,} rows",
    )
    output.table(
        ["class", "rows", "precision", "recall", "F1"],
        [[name, row["rows"], row["precision"], row["recall"], row["f1"]]
         for name, row in zip(names, table, strict=True)],
    )  # fmt: skip
    if len(names) <= MOST_CONFUSIONS:
        output.table(
            ["true \\ predicted", *names],
            [[name, *map(int, row)] for name, row in zip(names, counts, strict=True)],
            "Confusions",
        )
        return
    wrong = [
        (int(counts[i, j]), names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and counts[i, j]
    ]
    output.table(["rows", "true", "predicted"], sorted(wrong, reverse=True)[:20],
                 "Most frequent confusions")  # fmt: skip
