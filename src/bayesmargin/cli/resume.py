"""``bayesmargin resume``: go on with a fit that was cut short."""

from pathlib import Path
from typing import Annotated

import typer

from bayesmargin.cli.options import Debug, Json, Quiet


def resume(
    checkpoint: Annotated[
        Path,
        typer.Argument(help="What was given to fit as --checkpoint.", show_default=False),
    ],
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a fit from its checkpoint and write the model that it was to write.

    The arguments of the fit lie beside the checkpoint, in CHECKPOINT.command.json. The draws are
    those that the fit would have made without the interruption.
    """
    from bayesmargin.cli.fitting import run_fit
    from bayesmargin.cli.output import Output
    from bayesmargin.cli.request import has_state, read_command

    request, speak = read_command(checkpoint), Output(as_json, quiet)
    if Path(request.data).exists() and not has_state(checkpoint):
        speak.note(f"{checkpoint} holds no state of the fit, which starts from its beginning")
    raise typer.Exit(run_fit(request, speak))
