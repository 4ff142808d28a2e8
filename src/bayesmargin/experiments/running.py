"""Run experiments by name, write their files, and put the page together."""

import importlib
import importlib.util
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from bayesmargin.datasets import DataNotFoundError
from bayesmargin.experiments import NAMES
from bayesmargin.experiments.clock import one_thread
from bayesmargin.experiments.page import write_page
from bayesmargin.experiments.results import Result, write_result, write_verdicts
from bayesmargin.experiments.sizes import Setup


def chosen(name: str) -> tuple[str, ...]:
    """The experiments that a name stands for, ``"all"`` for every one.

    Examples
    --------
    >>> from bayesmargin.experiments.running import chosen
    >>> chosen("adagrad")
    ('adagrad',)
    """
    if name == "all":
        return NAMES
    if name not in NAMES:
        raise ValueError(f"no experiment is called {name!r}; there are all, {', '.join(NAMES)}")
    return (name,)


def reproduce(
    names: Iterable[str],
    setup: Setup,
    out: Path,
    say: Callable[[str], None] = print,
    verdicts_only: bool = False,
) -> Path:
    """Run experiments; write their files to ``out/reproduction`` and the page beside that folder.

    Parameters
    ----------
    names : iterable of str
        Which of :data:`bayesmargin.experiments.NAMES`.
    setup : Setup
        Size and seed.
    out : path
        Folder of the page; made if absent.
    say : callable
        Receives a line at the start and end of every experiment.
    verdicts_only : bool
        Leave pictures and numbers in the folder as they are and only record which claims hold: for
        other seeds.

    Returns
    -------
    path
        The page, which also holds what earlier runs have left in the folder. It is written anew
        after every experiment, so that one which fails or is interrupted costs no other.

    Raises
    ------
    DataNotFoundError
        After all other experiments, when the data of one are not here.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError('pictures need matplotlib: pip install "bayesmargin[plots]"')
    if setup.seed < 0:
        raise ValueError(f"seed={setup.seed} is not allowed: a seed is 0 or more")
    _make_folder(out / "reproduction")
    absent: dict[str, DataNotFoundError] = {}
    for name in names:
        say(f"{name}: running at size {setup.size}, seed {setup.seed}")
        try:
            seconds = _run_one(name, setup, out, verdicts_only)
        except DataNotFoundError as error:
            absent[name] = error
            say(f"{name}: left out, its data are not here")
            continue
        say(f"{name}: done in {seconds:.0f} s of processor time")
        write_page(out)
    page = write_page(out)
    if absent:
        first = next(iter(absent.values()))
        raise DataNotFoundError(f"not run for want of data: {', '.join(absent)}. {first}")
    return page


def _make_folder(folder: Path) -> None:
    """Make the folder now: an experiment that takes hours should not end without a place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"the folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written")


def _run_one(name: str, setup: Setup, out: Path, verdicts_only: bool) -> float:
    """Run an experiment and write its files; returns its processor seconds."""
    run: Callable[[Setup], Result] = importlib.import_module(f"bayesmargin.experiments.{name}").run
    began = time.process_time()
    with one_thread():
        result = run(setup)
    seconds = time.process_time() - began
    facts = {
        "size": setup.size,
        "seed": setup.seed,
        "seconds": seconds,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    result.facts.setdefault("search_seconds", 0.0)
    write_verdicts(name, result, out / "reproduction", facts)
    if not verdicts_only:
        write_result(name, result, out / "reproduction", facts)
    return seconds
