"""``bayesmargin reproduce``: the figures and tables of the paper."""

from pathlib import Path
from typing import Annotated

import typer

from bayesmargin.cli.options import Debug, Json, Quiet


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="smoothing, synthetic_posterior, convergence, batch_size, adagrad, "
            "medlda_documents, medlda_time, topic_view, infinite_svm_table, or all.",
            show_default=False,
        ),
    ],
    small: Annotated[bool, typer.Option("--quick", help="About a minute for each.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's size: hours.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for reproduction.md and its reproduction/."),
    ] = Path(),
    verdicts_only: Annotated[
        bool,
        typer.Option(
            "--verdicts-only",
            help="Keep the pictures in the folder; record which claims hold with this seed.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rerun a figure or table of the paper: picture, numbers, and how they compare.

    Writes pictures (PNG and SVG), CSV files and a page that collects what the folder holds.
    """
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.output import Output
    from bayesmargin.experiments.running import chosen
    from bayesmargin.experiments.running import reproduce as run
    from bayesmargin.experiments.sizes import Setup

    if small and full:
        raise usage_error("--quick and --full exclude each other")
    try:
        names = chosen(name)
    except ValueError as error:
        raise usage_error(str(error)) from error
    speak = Output(as_json, quiet)
    size = "quick" if small else "full" if full else "default"
    page = run(names, Setup(size, seed), output, speak.remark, verdicts_only)
    speak.line(f"Written: {page}")
    speak.answer({"page": str(page), "experiments": list(names), "size": size, "seed": seed})
