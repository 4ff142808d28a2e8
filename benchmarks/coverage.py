"""How often 90% intervals of the weights hold the weights that infinitely many rows would give.

    python benchmarks/coverage.py [--samples 400] [--processes 8]
    python benchmarks/coverage.py --designs 1-12 ...; ... --designs 13-28 ...; ... --join

28 designs: laws of the rows and labels, numbers of features and rows, and C; in the last four rows
have values, for a quantile or a tube. From each so many samples are drawn and fitted; the intervals
are those of ``summary()``, of the posterior as it is sampled and of ``posterior_.robust()``. Of
three classes under one hinge, weights are counted from their mean over the classes, for only
differences matter there. Coverage is averaged over the weights; its standard error, in the table,
takes the samples for independent, not the weights.
``doubtful`` is the share of fits whose robust intervals come with a warning: coverage is that of
the others, of all fits if all are doubtful. Fits draw 250 times from each of four chains; ``cost``
is the time of the adjustment over that of the rest of a fit with the default draws.
"""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesmargin import BayesianLinearSVC, BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.models.linear import training
from bayesmargin.models.regression import training as valued
from bayesmargin.posterior import Posterior
from coverage_designs import DESIGNS, GROUP, Design, grouped, three
from options import command_line
from reporting import finish, keep_part, kept_parts
from workers import add_processes, spread

PRIOR_SCALE = 10.0
PROMISED = 0.9
CLOSE, FAR = 0.02, 0.04
EXCEPTIONS = 2
COST = 0.1
DRAWS, TIMED = 250, 3
HEADER = [
    "set", "sampled", "robust", "error", "least", "most", "doubtful", "seconds", "cost", "met",
]  # fmt: skip


class Clock:
    """Seconds spent in the adjustment."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Any) -> Any:
        """The function, its seconds added up."""

        def timed(*args: Any) -> Any:
            start = time.perf_counter()
            result = function(*args)
            self.seconds += time.perf_counter() - start
            return result

        return timed


def held(posterior: Posterior, truth: np.ndarray, centred: bool) -> np.ndarray:
    """Which weights lie in their intervals."""
    draws = np.concatenate(
        [
            posterior.flat("coef").reshape(-1, len(truth), truth.shape[1] - 1),
            posterior.flat("intercept").reshape(-1, len(truth), 1),
        ],
        axis=2,
    )
    if centred:
        draws = draws - draws.mean(axis=1, keepdims=True)
    low, high = np.quantile(draws, [0.5 - 0.5 * PROMISED, 0.5 + 0.5 * PROMISED], axis=0)
    return np.asarray((low <= truth) & (truth <= high)).ravel()


def fitted(design: Design, seed: int, **more: Any) -> Any:
    """A fit to a sample."""
    settings = dict(C=design.C, prior_scale=PRIOR_SCALE, n_jobs=1, **design.settings, **more)
    if "quantile" in settings:
        return BayesianQuantileRegressor(random_state=seed, **settings).fit(*design.sample(seed))
    if "epsilon" in settings:
        return BayesianLinearSVR(random_state=seed, **settings).fit(*design.sample(seed))
    groups = np.arange(design.n_rows) // GROUP if design.law is grouped else None
    return BayesianLinearSVC(random_state=seed, **settings).fit(*design.sample(seed), groups=groups)


def judged(design: Design, truth: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Which weights the intervals of a fit hold, sampled and robust, and whether it doubts them."""
    warnings.simplefilter("ignore")
    centred = design.law is three and "multi_class" not in design.settings
    posterior = fitted(design, seed, n_draws=DRAWS).posterior_
    assert posterior.adjustment is not None
    doubtful = bool(posterior.adjustment.doubts)
    return held(posterior, truth, centred), held(posterior.robust(), truth, centred), doubtful


def measured(
    design: Design,
    found: list[tuple[np.ndarray, np.ndarray, bool]],
    times: tuple[float, float],
) -> list[Any]:
    """A row of the table."""
    plain, robust, doubtful = (np.array(part) for part in zip(*found, strict=True))
    sure = robust if doubtful.all() else robust[~doubtful]
    cover = float(sure.mean())
    error = float(sure.mean(axis=1).std(ddof=1) / np.sqrt(len(sure)))
    each = sure.mean(axis=0)
    return [
        design.name, float(plain.mean()), cover, error, float(each.min()), float(each.max()),
        float(doubtful.mean()), *times, bool(abs(cover - PROMISED) <= CLOSE),
    ]  # fmt: skip


def timed(design: Design) -> tuple[float, float]:
    """Seconds of a fit with the default draws, and the share of the adjustment in the rest."""
    warnings.simplefilter("ignore")
    clock = Clock()
    fitted(design, 0, n_draws=DRAWS)
    adjust, adjustment_of = training.adjust, valued.adjustment_of
    training.adjust, valued.adjustment_of = map(clock.around, (adjust, adjustment_of))
    start = time.perf_counter()
    for seed in range(TIMED):
        fitted(design, seed)
    spent = time.perf_counter() - start
    training.adjust, valued.adjustment_of = adjust, adjustment_of
    return spent / TIMED, clock.seconds / (spent - clock.seconds)


def main() -> None:
    asking = command_line(__doc__)
    asking.add_argument("--samples", type=int, default=400)
    asking.add_argument("--designs", help="first and last number, as 1-12; all if not given")
    asking.add_argument("--join", action="store_true", help="put parts together that were run")
    add_processes(asking)
    chosen = asking.parse_args()
    warnings.simplefilter("ignore")
    if chosen.join:
        order = [design.name for design in DESIGNS]
        table = sorted(kept_parts("coverage"), key=lambda row: order.index(row[0]))
        verdict(table, chosen.samples)
        return
    first, last = map(int, (chosen.designs or f"1-{len(DESIGNS)}").split("-"))
    some = DESIGNS[first - 1 : last]
    table: list[list[Any]] = []
    for design, found, times in zip(some, *samples_of(some, chosen), strict=True):
        table.append(measured(design, found, times))
        print(first + len(table) - 1, *table[-1], flush=True)
        keep_part("coverage", f"{first}-{last}", HEADER, table)
    if not chosen.designs:
        verdict(table, chosen.samples)


def samples_of(designs: list[Design], chosen: Any) -> tuple[Iterator[list[Any]], list[Any]]:
    """What the fits of each design come to, and times of a fit."""
    for kind in {design.regression: design for design in designs}.values():
        fitted(kind, 0, n_draws=DRAWS)  # machine code is on disk before processes ask for it
    each = [(design,) for design in designs]
    truths = list(spread(Design.truth, each, chosen.processes))
    times = list(spread(timed, each, chosen.processes))

    def found() -> Iterator[list[Any]]:
        for design, truth in zip(designs, truths, strict=True):
            samples = ((design, truth, seed) for seed in range(chosen.samples))
            yield list(spread(judged, samples, chosen.processes))

    return found(), times


def verdict(table: list[list[Any]], samples: int) -> None:
    away = [abs(row[2] - PROMISED) for row in table]
    beyond = sum(one > CLOSE for one in away)
    dearest = float(np.median([row[8] for row in table]))
    bounds = [
        {
            "bound": f"robust intervals cover 90 +- 2% in all designs but {EXCEPTIONS}",
            "measured": f"{beyond} of {len(table)} beyond, {samples} samples each",
            "met": beyond <= EXCEPTIONS,
        },
        {
            "bound": "90 +- 4% in all",
            "measured": f"farthest {100 * max(away):.1f}%",
            "met": max(away) <= FAR,
        },
        {
            "bound": "the adjustment costs at most a tenth of the rest of a fit (median)",
            "measured": f"{100 * dearest:.0f}%",
            "met": dearest <= COST,
        },
    ]
    finish("coverage", HEADER, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
