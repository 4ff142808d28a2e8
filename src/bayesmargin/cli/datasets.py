"""``bayesmargin datasets``: list public data sets, and fetch one into files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmargin.cli.options import Debug, Json, Quiet


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(help="Set to fetch; without it all are listed.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv or .parquet (arrays), .svm (sparse), or a folder to make "
            "(documents, a folder for each class).",
            show_default=False,
        ),
    ] = None,
    subset: Annotated[str, typer.Option(help="train, test or all.")] = "train",
    download: Annotated[
        bool, typer.Option("--download/--no-download", help="Download what is not here.")
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the data sets that the library knows, or write one as files that fit can read."""
    from bayesmargin.cli.output import Output

    speak = Output(as_json, quiet)
    if name is None:
        _list(speak)
        return
    from bayesmargin.cli.exporting import export

    bunch = _fetch(name, subset, download)
    document: dict[str, Any] = {"name": name, "subset": subset, "rows": len(bunch.target)}
    if output is not None:
        export(bunch, output)
        document["output"] = str(output)
    where = "" if output is None else f", written to {output}"
    speak.line(f"{name}: {len(bunch.target):,} rows{where}. {bunch.DESCR}")
    speak.answer({**document, "description": bunch.DESCR})


def _fetch(name: str, subset: str, download: bool) -> Any:
    import difflib

    from bayesmargin import datasets as known
    from bayesmargin.cli.failures import usage_error

    names = [word.removeprefix("fetch_") for word in known.__all__ if word.startswith("fetch_")]
    if name not in names:
        close = difflib.get_close_matches(name, names, 1)
        guess = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise usage_error(f"no data set is called {name}; {guess}")
    try:
        return getattr(known, f"fetch_{name}")(subset=subset, download_if_missing=download)
    except ValueError as error:
        if type(error).__name__ == "ValueError":
            raise usage_error(str(error)) from error
        raise


def _list(speak: Any) -> None:
    from bayesmargin import datasets as known

    rows = []
    for word in known.__all__:
        if word.startswith("fetch_"):
            name = word.removeprefix("fetch_")
            about = (getattr(known, word).__doc__ or "").strip().splitlines()[0]
            about = about.removeprefix("Load ").rstrip(".")
            rows.append({"name": name, "here": known.available(name), "about": about})
    speak.table(
        ["name", "on this machine", "what it is"],
        [[row["name"], "yes" if row["here"] else "no", row["about"]] for row in rows],
    )
    speak.answer({"datasets": rows})
