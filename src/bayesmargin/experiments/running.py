"""Run experiments by name, write their files, and put the page together."""

import importlib
import importlib.util
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path

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
        The page, which also holds what earlier runs have left in the folder.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError('pictures need matplotlib: pip install "bayesmargin[plots]"')
    for name in names:
        run: Callable[[Setup], Result] = importlib.import_module(
            f"bayesmargin.experiments.{name}"
        ).run
        say(f"{name}: running at size {setup.size}, seed {setup.seed}")
        began = time.process_time()
        with one_thread():
            result = run(setup)
        facts = {
            "size": setup.size,
            "seed": setup.seed,
            "seconds": time.process_time() - began,
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        }
        result.facts.setdefault("search_seconds", 0.0)
        write_verdicts(name, result, out / "reproduction", facts)
        if not verdicts_only:
            write_result(name, result, out / "reproduction", facts)
        say(f"{name}: done in {facts['seconds']:.0f} s of processor time")
    return write_page(out)
