"""Sensitivity to the batch size: SSGLD and SSGNHT on the text problem and on HIGGS."""

from typing import Any

import numpy as np

from bayesmargin.experiments.curves import compiled, follow
from bayesmargin.experiments.drawing import COLOURS, panels
from bayesmargin.experiments.linear_problems import higgs_set, text_set
from bayesmargin.experiments.paper_samplers import candidates
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.search import search
from bayesmargin.experiments.sizes import Setup

SIZES = (1, 10, 100, 1000, 10_000)
GUESS = 0.5  # accuracy that a chain gets which has diverged
FLAT = 0.02  # of accuracy, over the sizes but the smallest

TEXT = (
    "Test accuracy after {budget:g} s of processor time with batches of {smallest} to {largest:,} "
    "rows, the "
    "step searched anew for each ({text_name} with {text_rows:,} rows, {higgs_name} with "
    "{higgs_rows:,}; medians over "
    "{n_seeds} seeds). The paper finds flat curves except for the smallest batches. Accuracy over "
    "the batches from "
    "{second} on spans {text_ssgld_span:.3f} (SSGLD) and {text_ssgnht_span:.3f} (SSGNHT) on the "
    "text problem, "
    "{higgs_ssgld_span:.3f} and {higgs_ssgnht_span:.3f} on HIGGS; single rows lose "
    "{text_ssgld_drop:.3f} and {text_ssgnht_drop:.3f}, {higgs_ssgld_drop:.3f} and "
    "{higgs_ssgnht_drop:.3f} against the "
    "best of each. A chain that diverges after its search counts as guessing ({n_diverged} did)."
)


def run(setup: Setup) -> Result:
    """Search and run for every size, sampler and set."""
    seconds = setup.choose(0.6, 3.0, 60.0)
    n_seeds = setup.choose(1, 3, 5)
    facts: dict[str, Any] = {"search_seconds": 0.0, "budget": seconds, "n_seeds": n_seeds,
                             "smallest": SIZES[0], "second": SIZES[1],
                             "largest": SIZES[-1]}  # fmt: skip
    rows: list[dict[str, Any]] = []
    for key, data in {"text": text_set(setup), "higgs": higgs_set(setup)}.items():
        problem, judge = data.problem(), data.judge()
        facts |= {f"{key}_name": data.name, f"{key}_rows": data.n_rows}
        for name in ("SSGLD", "SSGNHT"):
            for size in SIZES:
                batch = min(size, data.n_rows)
                grid = candidates(name, batch, data.is_sparse)
                compiled(grid[0], data.problem(rows=slice(0, max(400, batch))))
                thin = int(np.clip(1000 // size, 1, 100))
                brief = setup.choose(0.2, 0.6)
                found = search(
                    grid,
                    data,
                    brief,
                    setup.seed,
                    thin,
                    lasting=seconds,
                    survivors=setup.choose(1, 3),
                )
                facts["search_seconds"] += found.seconds
                for seed in range(setup.seed, setup.seed + n_seeds):
                    curve = follow(found.best, problem, judge, seconds, seed, thin)
                    rows.append(
                        {
                            "data": data.name,
                            "sampler": name,
                            "batch": size,
                            "seed": seed,
                            "step": found.best.step,
                            "accuracy": GUESS if curve.diverged else curve.last,
                            "diverged": curve.diverged,
                            "draws": curve.draws[-1] if curve.draws else 0,
                        }
                    )
    facts["n_diverged"] = sum(row["diverged"] for row in rows)
    table = _medians(rows)
    verdicts = _verdicts(facts, table)
    return Result(
        title="Batch size",
        text=TEXT,
        figure=_draw(rows, table, facts),
        numbers=rows,
        facts=facts,
        table=table,
        verdicts=verdicts,
    )


def _medians(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for data, name, size in dict.fromkeys((r["data"], r["sampler"], r["batch"]) for r in rows):
        own = [r["accuracy"] for r in rows
               if (r["data"], r["sampler"], r["batch"]) == (data, name, size)]  # fmt: skip
        line = table.setdefault((data, name), {"data": data, "sampler": name})
        line[f"batch {size:,}"] = float(np.median(own))
    return list(table.values())


def _verdicts(facts: dict[str, Any], table: list[dict[str, Any]]) -> list[Verdict]:
    verdicts = []
    facts["flat"] = FLAT
    for key in ("text", "higgs"):
        for line in table:
            if line["data"] != facts[f"{key}_name"]:
                continue
            label = f"{key}_{line['sampler'].lower()}"
            values = [line[f"batch {size:,}"] for size in SIZES]
            facts[f"{label}_span"] = float(max(values[1:]) - min(values[1:]))
            facts[f"{label}_drop"] = float(max(values) - values[0])
            worst = SIZES[1 + int(np.argmin(values[1:]))]
            facts[f"{label}_worst"] = worst
            flat = facts[f"{label}_span"] <= FLAT
            reason = "" if flat else (
                f"; the lowest is batch {{{label}_worst:,}}, of which the time given allows few "
                f"steps"
                if worst >= 1000 else f"; the lowest is batch {{{label}_worst:,}}"
            )  # fmt: skip
            verdicts.append(
                Verdict(
                    f"{{{key}_name}}, {line['sampler']}: flat (within {{flat:g}}) but for single "
                    f"rows",
                    flat,
                    f"Span {{{label}_span:.3f}} from batch {{second}} on{reason}",
                )
            )
    return verdicts


def _draw(rows: list[dict[str, Any]], table: list[dict[str, Any]], facts: dict[str, Any]) -> Any:
    figure, axes = panels(1, 2, 3.9, 3.1)
    for axis, key in zip(axes[0], ("text", "higgs"), strict=True):
        name = facts[f"{key}_name"]
        for line in (one for one in table if one["data"] == name):
            colour = COLOURS[line["sampler"]]
            values = [line[f"batch {size:,}"] for size in SIZES]
            axis.plot(SIZES, values, "o-", color=colour, ms=4, lw=1.3, label=line["sampler"])
            own = [r for r in rows if r["data"] == name and r["sampler"] == line["sampler"]]
            axis.plot([r["batch"] for r in own], [r["accuracy"] for r in own], ".", color=colour,
                      ms=3, alpha=0.5)  # fmt: skip
        axis.set_xscale("log")
        axis.set_title(name, fontsize=9)
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, high - 0.06), high + 0.01)  # no small difference fills the panel
        axis.set_xlabel("batch size", fontsize=9)
    axes[0, 0].set_ylabel(f"test accuracy after {facts['budget']:g} s", fontsize=9)
    axes[0, 0].legend(fontsize=8, frameon=False)
    return figure
