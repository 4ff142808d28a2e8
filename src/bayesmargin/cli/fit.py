"""``bayesmargin fit``: a model from a file."""

from pathlib import Path
from typing import Annotated

import typer

from bayesmargin.cli.options import (
    Cost,
    Data,
    Debug,
    Format,
    Identity,
    Json,
    Labels,
    NumberOfChains,
    Quiet,
    Seed,
    Separator,
    Settings,
    Target,
)
from bayesmargin.models.registry import WORDS

_MODEL, _COLUMNS, _TEXT, _RUN = "Model", "Columns", "Documents", "Run"


def fit(
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to save the model in.")
    ] = Path("model"),
    model: Annotated[
        str,
        typer.Option("--model", "-m", help=f"{', '.join(WORDS)}.", rich_help_panel=_MODEL),
    ] = "linear",
    c: Cost = None,
    chains: NumberOfChains = None,
    draws: Annotated[
        int | None, typer.Option(help="Draws kept from each chain.", rich_help_panel=_MODEL)
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(help="Sampler or method of the model, by name.", rich_help_panel=_MODEL),
    ] = None,
    topics: Annotated[
        int | None, typer.Option(help="Number of topics (medlda).", rich_help_panel=_MODEL)
    ] = None,
    seed: Seed = 0,
    setting: Settings = None,
    target: Target = None,
    identity: Identity = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out.", rich_help_panel=_COLUMNS)
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of categories although it holds numbers.", rich_help_panel=_COLUMNS
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="Missing values: error, median (categories: the most common) or drop (the row).",
            rich_help_panel=_COLUMNS,
        ),
    ] = "error",
    scale: Annotated[
        bool,
        typer.Option(
            "--scale/--no-scale",
            help="Standardise numbers (columns of 0 and 1, and sparse files, are left alone).",
            rich_help_panel=_COLUMNS,
        ),
    ] = True,
    text: Annotated[
        str | None,
        typer.Option(help="Column of documents in a table.", rich_help_panel=_TEXT),
    ] = None,
    label_first: Annotated[
        bool,
        typer.Option(
            "--label-first",
            help="Lines of a text file are a label, a tab and a document.",
            rich_help_panel=_TEXT,
        ),
    ] = False,
    weighting: Annotated[
        str | None,
        typer.Option(
            help="counts or tfidf; by default counts for medlda, else tfidf.",
            rich_help_panel=_TEXT,
        ),
    ] = None,
    vectorizer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Setting of scikit-learn's CountVectorizer, such as min_df=5 or stop_words=null.",
            rich_help_panel=_TEXT,
        ),
    ] = None,
    format_: Format = None,
    separator: Separator = None,
    labels: Labels = None,
    n_features: Annotated[
        int | None,
        typer.Option(
            help="svmlight: number of features, when the last may not occur.",
            rich_help_panel="Reading",
        ),
    ] = None,
    as_is: Annotated[
        bool,
        typer.Option(
            "--as-is",
            help="No preparation: .npy, svmlight and Parquet files larger than memory are read "
            "piece by piece (linear only; no rows are held out).",
            rich_help_panel="Reading",
        ),
    ] = False,
    validation: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows held out to watch and report accuracy; 0 learns from all rows.",
            rich_help_panel=_RUN,
            show_default="0.2",
        ),
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option("--n-jobs", help="Threads.", rich_help_panel=_RUN)
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder to keep the state of the fit in; after a crash go on with bayesmargin "
            "resume FOLDER.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    checkpoint_every: Annotated[
        float | None,
        typer.Option(help="Seconds between checkpoints.", rich_help_panel=_RUN, show_default="60"),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit code 5 when the diagnostics say that the result should not be trusted.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a file and save it, with everything needed to read further files alike.

    Numbers are standardised, words in columns become categories, dates are refused, missing values
    are reported. A fifth of the rows is held out to watch the accuracy.
    """
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.fitting import run_fit
    from bayesmargin.cli.output import Output
    from bayesmargin.cli.request import FitRequest
    from bayesmargin.tables import Reading

    if checkpoint_every is not None and checkpoint is None:
        raise usage_error("--checkpoint-every needs --checkpoint FILE")
    if as_is and validation:
        raise usage_error("--as-is holds no rows out: leave --validation away, then evaluate")
    if validation is not None and not 0.0 <= validation < 1.0:
        raise usage_error(f"--validation {validation:g} is not a share of at least 0 and below 1")
    if seed < 0:
        raise usage_error(f"--seed {seed} is not allowed: a seed is 0 or more")
    if labels is not None and (target is not None or label_first):
        other = "--label-first" if target is None else f"--target {target}"
        raise usage_error(f"--labels {labels} and {other} both tell the labels: leave one out")
    reading = Reading(
        format=format_,
        target=target,
        identity=identity,
        text=text,
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        label_first=label_first,
        n_features=n_features,
        separator=separator,
    )
    flags = {"C": c, "chains": chains, "draws": draws, "sampler": sampler, "topics": topics,
             "n-jobs": n_jobs}  # fmt: skip
    request = FitRequest(
        data=str(data),
        output=str(output),
        model=model,
        seed=seed,
        flags=flags,
        settings=tuple(setting or ()),
        reading=reading.to_json(),
        labels=None if labels is None else str(labels),
        scale=scale,
        missing=missing,
        weighting=weighting,
        vectorizer=tuple(vectorizer or ()),
        validation=0.0 if as_is else 0.2 if validation is None else validation,
        as_is=as_is,
        checkpoint=None if checkpoint is None else str(checkpoint),
        checkpoint_every=checkpoint_every,
        strict=strict,
    )
    raise typer.Exit(run_fit(request, Output(as_json, quiet)))
