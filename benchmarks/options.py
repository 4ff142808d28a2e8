"""Command lines of the benchmarks: each explains itself and refuses what it does not know."""

import argparse
from collections.abc import Collection

from workers import add_processes


def command_line(description: str | None) -> argparse.ArgumentParser:
    """A parser that shows the docstring of a benchmark as it is written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def no_options(description: str | None) -> None:
    """The command line of a benchmark that has nothing to choose."""
    command_line(description).parse_args()


def add_sets(to: argparse.ArgumentParser, known: Collection[str]) -> None:
    """Let names of data sets follow the command; all of them if none is given."""
    there = ", ".join(known)

    def name(word: str) -> str:
        if word not in known:
            raise argparse.ArgumentTypeError(f"no set is called {word}; there are {there}")
        return word

    to.add_argument(
        "sets", nargs="*", metavar="set", type=name, default=list(known), help=f"of {there}"
    )


def chosen_sets(description: str | None, known: Collection[str]) -> list[str]:
    """Names of the data sets that the command line asks for."""
    asking = command_line(description)
    add_sets(asking, known)
    sets: list[str] = asking.parse_args().sets
    return sets


def sets_and_processes(description: str | None, known: Collection[str]) -> tuple[list[str], int]:
    """Names of data sets, and processes that share the work."""
    asking = command_line(description)
    add_sets(asking, known)
    add_processes(asking)
    chosen = asking.parse_args()
    return chosen.sets, chosen.processes
