"""The page that collects pictures, paragraphs, verdicts and cost of all experiments."""

from pathlib import Path

from bayesmargin.experiments import NAMES
from bayesmargin.experiments.results import markdown_table, read_facts

HEAD = """# The paper, reproduced

Every figure and table of *Fast Sampling Methods for Bayesian Max-margin Models* (Hu, Zhu, Zhang),
rerun with this library. This page is generated: each number comes from a CSV file that the run has
written (linked below its picture), the paper's own figures are marked `paper` there. To
run one again, or all:

```shell
bayesmargin reproduce adagrad --quick
bayesmargin reproduce all --out docs
```

*quick* takes about a minute for each experiment, *default* some minutes, *full* (`--full`) is the
size of the paper. Times are processor seconds on one thread, without evaluation and compilation: on
an idle machine the time on the wall. Where the printed text and the mathematics disagree we follow
the mathematics, see [the errata](mathematics/errata.md).
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
    absent = [name for name in NAMES if not (folder / f"{name}.txt").exists()]
    lines = [HEAD, *sections, "## What it cost", "", *markdown_table(costs), ""]
    if absent:
        lines += [f"Not run yet: {', '.join(absent)}.", ""]
    page = out / "reproduction.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page
