"""``bayesmargin crowd``: one label an item from those of many workers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmargin.cli.options import (
    Cost,
    Debug,
    Format,
    Json,
    NumberOfChains,
    Quiet,
    Seed,
    Separator,
    Settings,
)

_MODEL, _FILES = "Model", "Files"


def crowd(
    labels: Annotated[
        Path,
        typer.Argument(
            help="Table of three columns: item, worker, label, in this order or by these names.",
            show_default=False,
        ),
    ],
    known: Annotated[
        Path | None,
        typer.Option(
            help="Table of items and their true labels, as far as known.", rich_help_panel=_FILES
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="CSV to write items and labels to.", rich_help_panel=_FILES
        ),
    ] = None,
    workers: Annotated[
        Path | None, typer.Option(help="CSV to write workers to.", rich_help_panel=_FILES)
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Folder to save the model in.", rich_help_panel=_FILES)
    ] = None,
    c: Cost = None,
    sweeps: Annotated[
        int | None, typer.Option(help="Sweeps of each chain.", rich_help_panel=_MODEL)
    ] = None,
    chains: NumberOfChains = None,
    seed: Seed = 0,
    setting: Settings = None,
    shown: Annotated[int, typer.Option("--show", help="Items and workers shown.", min=0)] = 10,
    format_: Format = None,
    separator: Separator = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make one label an item from those of many workers, with probabilities and accuracies.

    Shown are the items that are least certain and the workers who are least accurate; files have
    all of them.
    """
    from bayesmargin.cli.estimators import parse_settings, require_allowed
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.output import Output
    from bayesmargin.cli.trust import diagnostics_document
    from bayesmargin.models.crowd.voting import MaxMarginVoting
    from bayesmargin.running.progress import display, watching

    output_, flags = Output(as_json, quiet), {"C": c, "n_sweeps": sweeps, "n_chains": chains}
    settings: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    names = [*MaxMarginVoting().get_params(deep=False)]
    chosen = parse_settings(tuple(setting or ()), names, "crowd")
    if twice := sorted({*chosen} & {*settings}):
        raise usage_error(
            f"--set {twice[0]} has a flag of its own that is given too: leave one out"
        )
    try:
        model = MaxMarginVoting(random_state=seed, **settings, **chosen)
    except (TypeError, ValueError) as error:
        raise usage_error(str(error)) from error
    require_allowed(model)
    votes = _columns(labels, format_, separator)
    told = None if known is None else _columns(known, None, separator)
    with output_.catching_warnings():
        if quiet or as_json:
            model.fit(votes, told)
        else:
            with display() as progress, watching(progress):
                model.fit(votes, told)
    items, people = model.item_table(), model.worker_table()
    for table, path in ((items, output), (people, workers)):
        if path is not None:
            table.to_csv(path)
            output_.line(f"{len(table)} rows written to {path}")
    if save is not None:
        model.save(save)
        output_.line(f"model saved in {save}")
    output_.line(
        f"{len(votes):,} labels of {len(items):,} items by {len(people):,} workers; "
        f"{len(model.classes_)} classes"
    )
    least = items.sort_values("probability", kind="stable").head(shown)
    _show(output_, least[["label", "probability"]], "least certain items")
    first = people.columns[0]
    _show(
        output_, people.sort_values(first, kind="stable").head(shown), f"workers of least {first}"
    )
    output_.line(str(model.diagnostics_))
    output_.answer(
        {
            "labels": len(votes),
            "classes": model.classes_,
            "items": items.reset_index().to_dict("records"),
            "workers": people.reset_index().to_dict("records"),
            "diagnostics": diagnostics_document(model),
        }
    )


def _columns(path: Path, format_: str | None, separator: str | None) -> Any:
    """A data frame from a file."""
    from bayesmargin.errors import DataError
    from bayesmargin.tables import Reading, read_table

    table = read_table(path, Reading(format=format_, separator=separator), labelled=False)
    if table.kind != "columns":
        raise DataError(f"{path} has no named columns: a table of item, worker and label is needed")
    return table.data


def _show(output: Any, table: Any, title: str) -> None:
    if len(table):
        rows = [[name, *row] for name, row in zip(table.index, table.to_numpy(), strict=True)]
        output.table([str(table.index.name), *map(str, table.columns)], rows, title)
