"""What every benchmark does at the end: a table, a verdict line, a file under results/."""

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def keep_part(name: str, part: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Keep some rows of a table whose other rows come from other runs, or later."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"header": list(header), "rows": list(rows)}, indent=1, default=float)
    (RESULTS / f"{name}_part_{part}.json").write_text(text + "\n")


def kept_parts(name: str) -> list[list[Any]]:
    """Rows of all parts, which ``finish`` makes one file of."""
    files = RESULTS.glob(f"{name}_part_*.json")
    return [row for file in files for row in json.loads(file.read_text())["rows"]]


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns wide enough for their longest entry."""
    text = [[_shown(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[k]) for row in text) for k in range(len(header))]
    for row in text:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def finish(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    met: bool,
    bounds: Sequence[dict[str, Any]] = (),
) -> None:
    """Print the table and the verdict, and keep both with a note of the machine.

    ``bounds`` may list single bounds as ``{"bound": text, "measured": text, "met": bool}``. A table
    without rows, where no data set was here, meets nothing: it ends the program and leaves the
    file of an earlier run alone. So does a table of fewer sets than the file has: figures that
    pages quote are not lost to a quick look at one set.
    """
    if not rows:
        raise SystemExit(f"verdict: {name}: NOTHING was measured, the earlier results are kept")
    print_table(header, rows)
    for bound in bounds:
        print(f"{'met' if bound['met'] else 'MISSED'}: {bound['bound']}: {bound['measured']}")
    print(f"verdict: {name}: {'all bounds met' if met else 'NOT all bounds met'}")
    if absent := _sets_only_in_file(name, header, rows):
        print(f"not kept: the earlier results have {', '.join(absent)} as well")
        return
    RESULTS.mkdir(exist_ok=True)
    record = {
        "name": name,
        "met": met,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "rows": [dict(zip(header, row, strict=True)) for row in rows],
        **({"bounds": list(bounds)} if bounds else {}),
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1, default=float) + "\n")


def _sets_only_in_file(
    name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[str]:
    """Data sets of an earlier run that this one has not measured, where tables are by set."""
    file = RESULTS / f"{name}.json"
    if header[0] != "set" or not file.exists():
        return []
    earlier = {row["set"] for row in json.loads(file.read_text())["rows"]}
    return sorted(earlier - {row[0] for row in rows})
