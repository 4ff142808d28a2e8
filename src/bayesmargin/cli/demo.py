"""``bayesmargin demo``: what the library is for, in one run."""

from pathlib import Path
from typing import Annotated

import typer

from bayesmargin.cli.options import Debug, Json, Quiet


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the two pictures.")
    ] = Path("demo"),
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit data that ship with scikit-learn, print the comparison, draw two pictures.

    Accuracy, log loss and calibration stand beside those of LinearSVC, plain and calibrated.
    """
    from bayesmargin.cli.output import Output
    from bayesmargin.demo import run

    speak = Output(as_json, quiet)
    with speak.catching_warnings():
        found = run(output, speak)
    speak.answer(found)
