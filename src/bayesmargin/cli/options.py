"""Flags that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

_READ, _SAY, _MODEL = "Reading", "Output", "Model"


def _separator(given: str | None) -> str | None:
    """A character, also by its name."""
    found = {"tab": "\t", "\\t": "\t"}.get(given or "", given)
    if found is not None and (len(found) != 1 or found in "\r\n\"'"):
        raise typer.BadParameter(f"{given!r} is not one character that can separate fields, or tab")
    return found


Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on stdout, nothing else.", rich_help_panel=_SAY),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no remarks.", rich_help_panel=_SAY)
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_SAY),
]
Model = Annotated[Path, typer.Argument(help="Folder of a saved model.", show_default=False)]
Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet (or a folder of it), Arrow, Feather, svmlight, .npz (SciPy "
        "sparse), .npy, a text file with one document a line, or a folder with a folder of "
        "documents for each class.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="csv, tsv, parquet, arrow, svmlight, npz, npy, text or folders, when the name does "
        "not tell.",
        rich_help_panel=_READ,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="CSV: the character between fields, or tab; by default it is found out.",
        rich_help_panel=_READ,
        callback=_separator,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(help="Column of the labels.", rich_help_panel=_READ, show_default=False),
]
Text = Annotated[
    str | None,
    typer.Option(help="Column of documents in a table.", rich_help_panel=_READ),
]
LabelFirst = Annotated[
    bool,
    typer.Option(
        "--label-first",
        help="Lines of a text file are a label, a tab and a document.",
        rich_help_panel=_READ,
    ),
]
Identity = Annotated[
    str | None,
    typer.Option("--id", help="Column that names the rows.", rich_help_panel=_READ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="File of labels, one a line or .npy, for data without them.", rich_help_panel=_READ
    ),
]
Cost = Annotated[
    float | None, typer.Option("--C", help="Weight of the hinge.", rich_help_panel=_MODEL)
]
NumberOfChains = Annotated[
    int | None, typer.Option(help="Independent chains.", rich_help_panel=_MODEL)
]
Seed = Annotated[int, typer.Option(help="Equal seeds give equal draws.", rich_help_panel=_MODEL)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting of the estimator; values are JSON. Repeat it for more.",
        rich_help_panel=_MODEL,
    ),
]
