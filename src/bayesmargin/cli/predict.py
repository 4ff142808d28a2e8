"""``bayesmargin predict``: classes, probabilities and uncertainty for new rows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmargin.cli.options import (
    Data,
    Debug,
    Format,
    Identity,
    Json,
    LabelFirst,
    Model,
    Quiet,
    Separator,
    Text,
)

_WRITTEN = (".csv", ".tsv", ".parquet", ".json", ".jsonl")


def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write: .csv, .tsv, .parquet, .json or .jsonl."
        ),
    ] = None,
    identity: Identity = None,
    text: Text = None,
    label_first: LabelFirst = False,
    format_: Format = None,
    separator: Separator = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a file; without --output CSV goes to stdout.

    Columns: the row's name, the class, its probability, the probability of every class, and as far
    as the model has them the score with its posterior sd and the share of posterior draws that
    vote for the class.
    """
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.forecasts import forecast
    from bayesmargin.cli.models import load_saved, tell
    from bayesmargin.cli.output import Output, require_other_file

    if output is not None and output.suffix not in _WRITTEN:
        raise usage_error(f"--output {output} ends in none of {', '.join(_WRITTEN)}")
    if output is not None:
        require_other_file(output, data)
    speak = Output(as_json, quiet)
    saved = load_saved(model)
    reading = saved.reading(
        identity=identity,
        text=text,
        label_first=label_first or None,
        format=format_,
        separator=separator,
    )
    rows = saved.read(data, reading, labelled=False, named=identity is not None)
    tell(rows.remarks, speak)
    found = forecast(saved.estimator, rows.X)
    count = len(found["predicted"])
    names = list(range(1, count + 1)) if rows.ids is None else rows.ids
    heading = rows.id_name
    if heading in found:
        speak.note(f"names of rows are in column 'row': {heading!r} is a column of the predictions")
        heading = "row"
    columns = {heading: names, **found}
    document: dict[str, Any] = {"model": str(model), "data": str(data), "rows": count}
    if output is None:
        if as_json:
            document["predictions"] = _records(columns)
        else:
            stream = typer.get_text_stream("stdout")  # which ends lines as its system does
            _frame(columns).to_csv(stream, index=False, lineterminator="\n")
    else:
        write(columns, output)
        document["output"] = str(output)
        speak.line(f"{count:,} predictions written to {output}.")
    speak.answer(document)


def write(columns: dict[str, Any], path: Path) -> None:
    """Write columns in the format that the name of the file asks for; whole or not at all."""
    from bayesmargin.cli.failures import CommandError
    from bayesmargin.saving.files import whole_file

    try:
        with whole_file(path) as draft:
            _write(columns, draft, path.suffix)
    except OSError as error:
        raise CommandError(f"{path} could not be written ({error.strerror or error})") from error


def _write(columns: dict[str, Any], path: Path, form: str) -> None:
    import json

    if form == ".json":
        path.write_text(json.dumps(_records(columns), indent=1) + "\n", encoding="utf-8")
    elif form == ".jsonl":
        lines = [json.dumps(record) for record in _records(columns)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif form == ".parquet":
        from bayesmargin.errors import DataError

        try:
            _frame(columns).to_parquet(path, index=False)
        except ImportError as error:
            raise DataError(
                'Parquet files need pyarrow: pip install "bayesmargin[files]"'
            ) from error
    else:
        _frame(columns).to_csv(path, sep="\t" if form == ".tsv" else ",", index=False)


def _frame(columns: dict[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    from bayesmargin.cli.output import plain

    lists = {name: plain(list(values)) for name, values in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
