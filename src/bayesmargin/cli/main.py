"""The program ``bayesmargin``: its commands and its help."""

import typer

from bayesmargin.cli.crowd import crowd
from bayesmargin.cli.datasets import datasets
from bayesmargin.cli.demo import demo
from bayesmargin.cli.evaluate import evaluate
from bayesmargin.cli.failures import EXIT_CODES, GuardedGroup
from bayesmargin.cli.fit import fit
from bayesmargin.cli.info import info
from bayesmargin.cli.predict import predict
from bayesmargin.cli.report import report
from bayesmargin.cli.reproduce import reproduce
from bayesmargin.cli.resume import resume
from bayesmargin.cli.topics import topics
from bayesmargin.cli.warm import warm

# In the order in which they are used. Another command is a file here and a line in this list.
COMMANDS = (
    fit,
    evaluate,
    predict,
    topics,
    crowd,
    report,
    resume,
    info,
    datasets,
    demo,
    warm,
    reproduce,
)

app = typer.Typer(
    name="bayesmargin",
    cls=GuardedGroup,
    help="Bayesian max-margin models: fit files from the shell, know how sure the answer is.",
    epilog=f"Exit codes: {EXIT_CODES}.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in COMMANDS:
    app.command(context_settings={"help_option_names": ["-h", "--help"]})(command)


@app.callback(invoke_without_command=False)
def program(
    version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True,
                                 callback=lambda wanted: _version(wanted)),
) -> None:  # fmt: skip
    """Bayesian max-margin models: fit files from the shell, know how sure the answer is."""


def _version(wanted: bool) -> None:
    if wanted:
        from bayesmargin import __version__

        typer.echo(f"bayesmargin {__version__}")
        raise typer.Exit
