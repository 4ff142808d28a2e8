"""``bayesmargin warm``: compile ahead."""

from typing import Annotated

import typer

from bayesmargin.cli.options import Debug, Json, Quiet
from bayesmargin.models.registry import WORDS


def warm(
    models: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(WORDS)}.", show_default="all of them"),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile what usual fits need, so that none has to wait; when building an image, say.

    Machine code goes into the folder that BAYESMARGIN_CACHE names (else the user's cache), where
    every later process finds it. For an image that runs on processors of several kinds set
    NUMBA_CPU_NAME=generic, when it is built and when it runs.
    """
    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.output import Output
    from bayesmargin.foundation.compiling import cache_folder
    from bayesmargin.running.progress import Silence, display
    from bayesmargin.warming import rehearsals
    from bayesmargin.warming import warm as compile_ahead

    speak = Output(as_json, quiet)
    try:
        count = len(rehearsals(models))
    except ValueError as error:
        raise usage_error(str(error)) from error
    done = 0
    with speak.catching_warnings(), Silence() if quiet else display() as bar:

        def told(one, seconds):  # type: ignore[no-untyped-def]
            nonlocal done
            done += 1
            bar.update("compiling", done, count, one.name)

        bar.update("compiling", 0, count, "")
        taken = compile_ahead(models, told)
    rows = [[name, round(seconds, 1)] for name, seconds in taken.items()]
    speak.table(["fit", "seconds"], rows)
    speak.line(f"Compiled code is kept in {cache_folder()}.")
    speak.answer({"folder": str(cache_folder()), "seconds": taken})
