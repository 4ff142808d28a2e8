"""``bayesmargin report``: one page about a model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmargin.cli.options import (
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


def report(
    model: Model,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Labelled rows that the model has not seen.",
            show_default="the rows that fit held out",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write.", show_default="MODEL.html"),
    ] = None,
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
    """Write a self-contained HTML page: what was fitted, how good it is, what it learned.

    Without DATA the rows that the fit held out are read again from its file, if that is still
    there and unchanged.
    """
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.models import load_saved, tell
    from bayesmargin.cli.output import Output, beside, require_other_file
    from bayesmargin.report import write_report

    if output is not None and output.is_dir():
        raise usage_error(f"--output {output} is a folder: give a file, as {output}/report.html")
    speak = Output(as_json, quiet)
    saved = load_saved(model)
    path = output or beside(model, ".html")
    require_other_file(path, data or saved.fit_record.get("data"))
    rows: Any = None
    if data is not None:
        given = None if labels is None else str(labels)
        reading = saved.reading(
            target=target, labels=given, text=text, label_first=label_first or None, format=format_,
            separator=separator,
        )  # fmt: skip
        rows = saved.read(data, reading, labelled=True)
    else:
        from bayesmargin.cli.again import held_out_again

        rows, why = held_out_again(saved)
        if rows is None:
            speak.warn(f"the report has no accuracy: {why}; give a file of labelled rows")
    if rows is not None:
        tell(rows.remarks, speak)
        rows = rows.named()
    with speak.catching_warnings():
        write_report(saved.estimator, saved.extras, path, data=rows)
    speak.line(f"Report written to {path}.")
    speak.answer({"model": str(model), "report": str(path),
                  "rows": 0 if rows is None else int(rows.X.shape[0])})  # fmt: skip
