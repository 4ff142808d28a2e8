"""The page that collects pictures, paragraphs, verdicts and cost of all experiments."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bayesmargin.experiments import NAMES
from bayesmargin.experiments.results import (
    UNDECIDED,
    VERDICTS,
    markdown_table,
    read_facts,
    read_rows,
)
from bayesmargin.experiments.sizes import SIZES

HEAD = """# The paper, reproduced

Every figure and table of *Fast Sampling Methods for Bayesian Max-margin Models* (Hu, Zhu, Zhang),
rerun with this library. This page is generated: each number comes from a CSV file that the run has
written (linked below its picture), the paper's own figures are marked `paper` there. To
run one again, or all:

```shell
bayesmargin reproduce adagrad --quick
bayesmargin reproduce all --output docs
```

*quick* takes about a minute for each experiment and is too small for conclusions, *default* takes
minutes, and two hours for the topic models on a million documents (see the table at the end),
*full* (`--full`) is the size of the paper. Where several chains were run, a claim that their spread
leaves open is called undecided; this rule was made after first runs of the topic models had been
seen, and before those shown here. Times are processor seconds on one thread, without evaluation and
compilation: on an idle machine the time on the wall. Where the printed text and the
mathematics disagree we follow the mathematics, see [the errata](mathematics/errata.md).
"""


def write_page(out: Path) -> Path:
    """Put the sections in ``out/reproduction`` together as ``out/reproduction.md``."""
    folder = out / "reproduction"
    sections, costs = [], []
    for name in NAMES:
        path = folder / f"{name}.txt"
        if not path.exists():
            continue
        sections.append(path.read_text(encoding="utf-8"))
        facts = read_facts(folder / f"{name}_facts.csv")
        costs.append(
            {
                "experiment": name,
                "size": facts["size"],
                "seed": facts["seed"],
                "processor seconds": facts["seconds"],
                "of these grid search": facts["search_seconds"],
                "machine": f"{facts['machine']}, {facts['cores']} cores",
            }
        )
    seeds = other_seeds(folder)
    absent = [name for name in NAMES if not (folder / f"{name}.txt").exists()]
    lines = [HEAD, *sections, *seeds]
    if costs:
        lines += ["## What it cost", "", *markdown_table(costs), ""]
    if absent:
        lines += [f"Not run yet: {', '.join(absent)}.", ""]
    page = out / "reproduction.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


SEEDS = """## Other seeds

All claims of this page, run again with other seeds and sizes
(`bayesmargin reproduce all --seed 1 --verdicts-only`). {counts}
Files: [verdicts with their evidence](reproduction/verdicts.csv).
"""


def other_seeds(folder: Path) -> list[str]:
    """The section that shows every claim under every seed; empty if the others show them all.

    They do where each claim was run only once, with a section of its experiment on the page.
    """
    path = folder / VERDICTS
    rows = read_rows(path) if path.exists() else []
    runs = sorted({(row["seed"], row["size"]) for row in rows})
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        column = f"seed {row['seed']}, {row['size']}"
        claim = found.setdefault((row["experiment"], row["claim"]), {})
        claim[column] = (
            UNDECIDED if row["holds"] == UNDECIDED else "holds" if row["holds"] else "does not"
        )
    if all(
        len(claim) == 1 and (folder / f"{name}.txt").exists() for (name, _), claim in found.items()
    ):
        return []
    counts = [text for size in SIZES if (text := _agreement(size, found.values()))]
    columns = [f"seed {seed}, {size}" for seed, size in runs]
    table = [
        {"experiment": name, "claim": text} | {column: claim.get(column, "") for column in columns}
        for (name, text), claim in sorted(found.items(), key=lambda item: NAMES.index(item[0][0]))
    ]
    return [SEEDS.format(counts=" ".join(counts)), *markdown_table(table), ""]


def _agreement(size: str, claims: Iterable[dict[str, Any]]) -> str:
    """How many claims have the same verdict with every seed at one size."""
    runs = [[claim[run] for run in claim if run.endswith(f", {size}")] for claim in claims]
    repeated = [verdicts for verdicts in runs if len(verdicts) > 1]
    same = sum(len(set(verdicts)) == 1 for verdicts in repeated)
    if not repeated:
        return ""
    return (
        f"At {size} size {same} of the {len(repeated)} claims run more than once have the same "
        "verdict with every seed."
    )
