"""Accuracy against time: a text problem, HIGGS, and synthetic rows of its shape."""

from functools import partial
from typing import Any

import numpy as np

from bayesmargin.experiments.curves import ENOUGH, Curve, compiled, curve_rows, follow
from bayesmargin.experiments.drawing import COLOURS, OURS, panels
from bayesmargin.experiments.linear_problems import (
    LinearSet,
    higgs_set,
    synthetic_set,
    text_set,
)
from bayesmargin.experiments.paper_samplers import PROPOSAL_DEVIATION, candidates, untuned
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.search import search
from bayesmargin.experiments.sizes import Setup

TEXT_BATCHES = {"SSGLD": 10, "SSGNHT": 10, "SRWM": 10}
HIGGS_BATCHES = {"SSGLD": 1000, "SSGNHT": 100, "SRWM": 1000}
THIN = {"SSGLD": 10, "SSGNHT": 10, "SRWM": 1, "Gibbs": 1, OURS: None}
WIDE_THIN = 100  # a draw of many weights costs more than a step on a few of them
TOLERANCE = 0.005  # of accuracy below the best end: the plateau, or a standard error if larger
ORDER = ("SSGLD", "SSGNHT", "SRWM", "Gibbs", OURS)
BASELINES = ("SRWM", "Gibbs")  # from one seed: they are slow
MANY_TIMES = 10  # the paper's claim against the baselines

TEXT = (
    "Test accuracy of the running posterior mean against processor time. Text problem: "
    "{text_name}, {text_rows:,} rows and {text_columns:,} features (the paper: real-sim, "
    "{paper_realsim_rows:,} and {paper_realsim_columns:,}), batch {text_batch}. {higgs_name}: "
    "{higgs_rows:,} rows and {higgs_columns} features (the paper: {paper_higgs_rows:,} training "
    "rows), batches as in the paper. Synthetic rows of that shape: {synthetic_rows:,}. SSGLD has "
    "AdaGrad; steps of SSGLD and SSGNHT come from a grid search on a fifth of the training rows, "
    "ours has none. SRWM proposes with variance {variance:g}. The table gives the time from which "
    "each method stays within {text_tolerance:.4f}, {higgs_tolerance:.4f} and "
    "{synthetic_tolerance:.4f} (a standard error on the test rows, or more) of the best accuracy "
    "that any reaches on the set (`inf`: not in the {text_budget:g}, {higgs_budget:g} and "
    "{synthetic_budget:g} s after preparation; the baselines had up to {text_patience:.1f}, "
    "{higgs_patience:.1f} and {synthetic_patience:.1f} s), medians over seeds ({n_seeds} for the "
    "text problem and HIGGS, one for the synthetic rows and for the baselines). Preparation is the "
    "laying out of rows, and "
    "for ours the anchor; until it has {enough} draws ours is judged by the mean that the search "
    "for the anchor has reached (hollow points), as the others are by draws of their burn-in. That "
    "mean comes from an optimiser: it classifies, but says nothing about the posterior. So ours is "
    "judged by its draws alone as well. Linear accuracy on "
    "HIGGS is near {paper_higgs_accuracy:g}, whatever the sampler."
)


def sets(setup: Setup) -> dict[str, tuple[LinearSet, dict[str, int], float]]:
    """Data, batch sizes and seconds of the three panels."""
    return {
        "text": (text_set(setup), TEXT_BATCHES, setup.choose(1.5, 6.0, 600.0)),
        "higgs": (higgs_set(setup), HIGGS_BATCHES, setup.choose(1.0, 3.0, 600.0)),
        "synthetic": (synthetic_set(setup), HIGGS_BATCHES, setup.choose(1.0, 8.0, 600.0)),
    }


def run(setup: Setup) -> Result:
    """Search steps, follow every sampler on every set, draw."""
    rows: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    facts: dict[str, Any] = {
        "search_seconds": 0.0,
        "variance": PROPOSAL_DEVIATION**2,
        "enough": ENOUGH,
    }
    found: dict[str, dict[str, list[Curve]]] = {}
    n_seeds = facts["n_seeds"] = setup.choose(1, 3)
    for key, (data, batches, seconds) in sets(setup).items():
        seeds = range(setup.seed, setup.seed + (1 if key == "synthetic" else n_seeds))
        found[key], again = {name: [] for name in ORDER}, {}
        for name, sampler in _samplers(data, batches, seconds, setup, facts, key).items():
            dense = name == "Gibbs"
            compiled(sampler, data.small(dense))
            problem, judge = data.problem(dense), data.judge()
            thin = THIN[name]
            if thin and thin > 1 and data.n_columns > 800:
                thin = WIDE_THIN
            for seed in seeds[:1] if name in BASELINES else seeds:
                found[key][name].append(follow(sampler, problem, judge, seconds, seed, thin))
            again[name] = partial(follow, sampler, problem, judge, seed=seeds[0], thin=thin)
        tolerance = facts[f"{key}_tolerance"] = _tolerance(data, found[key])
        patience = _patience(found[key], tolerance, setup.choose(3.0, 60.0, 6000.0))
        facts[f"{key}_patience"] = max(patience, seconds)
        for name in BASELINES:
            late = found[key][name][0].first_at(_best(found[key]) - tolerance) == np.inf
            if late and patience > seconds:
                found[key][name] = [again[name](seconds=patience)]
        for name, group in found[key].items():
            for seed, curve in zip(seeds, group, strict=False):
                rows += curve_rows(curve, data=data.name, sampler=name, seed=seed)
        table += _plateaus(data.name, found[key], tolerance)
        facts |= {f"{key}_name": data.name, f"{key}_rows": data.n_rows,
                  f"{key}_columns": data.n_columns, f"{key}_budget": seconds}  # fmt: skip
    facts["text_batch"] = TEXT_BATCHES["SSGLD"]
    verdicts = [one for key in found for one in _verdicts(key, facts, table)]
    return Result(
        title="Accuracy against time",
        text=TEXT,
        figure=_draw(found, facts),
        numbers=rows,
        facts=facts,
        paper={"paper_realsim_rows": 72_309, "paper_realsim_columns": 20_958,
               "paper_higgs_rows": 10_000_000, "paper_higgs_accuracy": 0.64},
        table=table,
        verdicts=verdicts,
    )  # fmt: skip


def _samplers(
    data: LinearSet, batches: dict[str, int], seconds: float, setup: Setup, facts: Any, key: str
) -> dict[str, Any]:
    """Samplers of one set, the paper's two with the steps that the search finds."""
    result: dict[str, Any] = {}
    for name in ("SSGLD", "SSGNHT"):
        grid = candidates(name, batches[name], data.is_sparse)
        compiled(grid[0], data.small())
        thin = WIDE_THIN if data.n_columns > 800 else 10
        brief = setup.choose(0.25, min(2.0, 0.1 * seconds))
        best = search(
            grid, data, brief, setup.seed, thin, lasting=seconds, survivors=setup.choose(1, 3)
        )
        facts["search_seconds"] += best.seconds
        facts[f"{key}_{name.lower()}_step"] = best.best.step
        result[name] = best.best
    return result | untuned(batches["SRWM"])


def _best(curves: dict[str, list[Curve]]) -> float:
    """The best accuracy at the end (medians over seeds)."""
    return max(float(np.median([c.last for c in group])) for group in curves.values())


def _tolerance(data: LinearSet, curves: dict[str, list[Curve]]) -> float:
    """How far below the best end the plateau begins: test rows tell no less apart."""
    top = _best(curves)
    return max(TOLERANCE, float(np.sqrt(top * (1.0 - top) / len(data.test_label))))


def _patience(curves: dict[str, list[Curve]], tolerance: float, most: float) -> float:
    """Time for the baselines that shows whether they need many times that of the paper's samplers.

    Counted from the moment a chain can begin, as the time of the slower of the two is.
    """
    level = _best(curves) - tolerance
    needed = [
        float(np.median([curve.first_at(level) - curve.prepared for curve in curves[name]]))
        for name in ("SSGLD", "SSGNHT")
    ]
    return min(most, 1.1 * MANY_TIMES * max(needed)) if np.isfinite(needed).all() else 0.0


def _plateaus(name: str, curves: dict[str, list[Curve]], tolerance: float) -> list[dict[str, Any]]:
    """Time to the plateau and accuracy at the end of every sampler."""
    level = _best(curves) - tolerance
    return [
        {
            "data": name,
            "sampler": sampler,
            "seconds to plateau": float(np.median([c.first_at(level) for c in group])),
            "preparation": float(np.median([c.prepared for c in group])),
            "accuracy at the end": float(np.median([(c.values or [np.nan])[-1] for c in group])),
            "diverged": f"{sum(c.diverged for c in group)} of {len(group)}",
            "draws enter at": float(np.median([c.first_draw for c in group])),
        }
        for sampler, group in curves.items()
    ]


def _verdicts(key: str, facts: dict[str, Any], table: list[dict[str, Any]]) -> list[Verdict]:
    """The orderings on one set; the numbers quoted become facts."""
    name = facts[f"{key}_name"]
    times = {r["sampler"]: r["seconds to plateau"] for r in table if r["data"] == name}
    ends = {r["sampler"]: r["accuracy at the end"] for r in table if r["data"] == name}
    starts = {r["sampler"]: r["draws enter at"] for r in table if r["data"] == name}
    paper = min(("SSGLD", "SSGNHT"), key=lambda one: times[one])
    ready = {r["sampler"]: r["preparation"] for r in table if r["data"] == name}
    # Who did not arrive needed at least the time that was given.
    floor = {
        one: time
        if np.isfinite(time)
        else ready[one] + facts[f"{key}_{'patience' if one in BASELINES else 'budget'}"]
        for one, time in times.items()
    }
    slowest_sg = max(("SSGLD", "SSGNHT"), key=lambda one: floor[one])
    for one in BASELINES:
        facts[f"{key}_{one.lower()}_ratio"] = floor[one] / floor[slowest_sg]
        facts[f"{key}_{one.lower()}_net"] = (floor[one] - ready[one]) / (
            floor[slowest_sg] - ready[slowest_sg]
        )
    facts |= {
        f"{key}_paper_best": paper,
        f"{key}_paper_time": times[paper],
        f"{key}_ours_time": times[OURS],
        f"{key}_gibbs_end": ends["Gibbs"],
        f"{key}_srwm_end": ends["SRWM"],
        f"{key}_ours_end": ends[OURS],
        f"{key}_paper_end": ends[paper],
        f"{key}_gibbs_first": starts["Gibbs"],
        f"{key}_ours_first": starts[OURS],
        "many_times": MANY_TIMES,
    }
    arrived = {one: np.isfinite(times[one]) for one in times}
    least = {one: "" if arrived[one] else "at least " for one in ("Gibbs", "SRWM")}
    fast = arrived["SSGLD"] and arrived["SSGNHT"]
    ten = fast and min(facts[f"{key}_gibbs_net"], facts[f"{key}_srwm_net"]) >= MANY_TIMES
    ours = times[OURS] <= times[paper]
    say = f"{{{key}_name}}: "
    slow = "one of the stochastic samplers did not reach the plateau in the time given"
    cheap = f"a sweep of our Gibbs over all rows is done after {{{key}_gibbs_first:.2g}} s"
    short = (
        f"{{{key}_slower}} arrives after {{{key}_slower_time:.2g}} s, so the baselines had no time"
    )
    facts |= {f"{key}_slower": slowest_sg, f"{key}_slower_time": times[slowest_sg]}
    why = slow if not fast else cheap if arrived["Gibbs"] else f"{short} to be shown slower"
    reason = "" if ten else f"; {why}"
    facts[f"{key}_ours_by_draws"] = by_draws = max(times[OURS], starts[OURS])
    return [
        Verdict(
            say + "the stochastic samplers of the paper reach the plateau {many_times} times "
            "sooner than Gibbs and SRWM",
            bool(ten),
            f"Once rows are laid out, the slower of the two against Gibbs: {least['Gibbs']}"
            f"{{{key}_gibbs_net:.1f}} times, against SRWM: {least['SRWM']}{{{key}_srwm_net:.1f}} "
            f"times ({{{key}_gibbs_ratio:.1f}} and {{{key}_srwm_ratio:.1f}} with the laying out)"
            + reason,
        ),
        Verdict(
            say + "ours, judged from its search for the anchor on, is never slower to the plateau "
            "than the paper's samplers",
            bool(ours),
            f"{{{key}_ours_time:.3g}} s against {{{key}_paper_time:.3g}} s of "
            f"{{{key}_paper_best}}; "
            f"accuracy at the end {{{key}_ours_end:.4f}} against {{{key}_paper_end:.4f}}",
        ),
        Verdict(
            say + "ours, judged by its draws alone, is never slower to the plateau than the "
            "paper's samplers",
            bool(by_draws <= times[paper]),
            f"{{{key}_ours_by_draws:.2g}} s against {{{key}_paper_time:.3g}} s of "
            f"{{{key}_paper_best}}",
        ),
    ]


def _draw(found: dict[str, dict[str, list[Curve]]], facts: dict[str, Any]) -> Any:
    figure, axes = panels(1, len(found), 3.7, 3.2)
    for axis, (key, curves) in zip(axes[0], found.items(), strict=True):
        for name, group in curves.items():
            for k, curve in enumerate(group):
                axis.plot(curve.seconds, curve.values, color=COLOURS[name], lw=1.3,
                          marker="o", ms=2, alpha=0.9, label=name if k == 0 else None)  # fmt: skip
                anchor = np.flatnonzero(np.array(curve.draws) == 0)
                axis.plot(np.array(curve.seconds)[anchor], np.array(curve.values)[anchor], "o",
                          ms=4, mfc="white", mec=COLOURS[name], mew=1.0)  # fmt: skip
        times = [t for group in curves.values() for curve in group for t in curve.seconds]
        if max(times) > 20.0 * min(times):
            axis.set_xscale("log")
        axis.set_title(f"{facts[f'{key}_name']}, {facts[f'{key}_rows']:,} rows", fontsize=9)
        axis.set_xlabel("processor seconds", fontsize=9)
    axes[0, 0].set_ylabel("test accuracy", fontsize=9)
    axes[0, 1].legend(fontsize=7, frameon=False, loc="lower right")
    return figure
