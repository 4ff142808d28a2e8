"""Put the measured tables into docs/mathematics/cluster.md.

    python benchmarks/cluster_page.py

Every ``<!-- name: columns -->`` ... ``<!-- end -->`` of the page is filled from
``results/distributed_name.json`` (``cost`` from the constants of the cost model).
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cost_model import FILE, Constants, extrapolated
from options import no_options
from reporting import RESULTS

PAGE = Path(__file__).parent.parent / "docs" / "mathematics" / "cluster.md"


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, numbers rounded to three figures."""
    lines = [list(header), ["---"] * len(header), *[[_shown(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(name: str, columns: list[str]) -> str:
    """The table of one benchmark, or a note that it has not been run."""
    if name == "cost":
        if not FILE.exists():
            return "(not measured yet)"
        return markdown(*extrapolated(Constants(**json.loads(FILE.read_text()))))
    file = RESULTS / f"distributed_{name}.json"
    if not file.exists():
        return "(not measured yet)"
    rows = json.loads(file.read_text())["rows"]
    return markdown(columns, [[row[column] for column in columns] for row in rows])


def filled(match: re.Match[str]) -> str:
    """One section with its table renewed."""
    name, columns = match["name"], match["columns"].split()
    return f"<!-- {name}: {' '.join(columns)} -->\n\n{table(name, columns)}\n\n<!-- end -->"


if __name__ == "__main__":
    no_options(__doc__)
    pattern = r"<!-- (?P<name>\w+): (?P<columns>[\w ]+) -->.*?<!-- end -->"
    PAGE.write_text(re.sub(pattern, filled, PAGE.read_text(), flags=re.DOTALL))
