"""What an experiment hands over, and how it is written: picture, numbers, paragraph, verdicts.

The paragraph is a template. Every number in it is a *fact*, which goes to a CSV file first and is
read back before the paragraph is written, so that the text cannot say what the numbers do not.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]
VERDICTS = "verdicts.csv"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict:
    """A claim (of the paper, or ours), whether it holds here, and the evidence (templates).

    ``holds`` is None where several chains were run and their spread leaves the claim undecided.
    """

    claim: str
    holds: bool | None
    evidence: str


@dataclass
class Result:
    """Outcome of an experiment.

    Attributes
    ----------
    title : str
        Heading on the page.
    text : str
        Template of the paragraph, ``{name:format}`` standing for facts.
    figure : matplotlib.figure.Figure
    numbers : rows
        What the picture shows, in full.
    table : rows
        A short table for the page.
    facts : dict
        Numbers and words measured or chosen here.
    paper : dict
        Figures printed in the paper.
    verdicts : list of Verdict
    """

    title: str
    text: str
    figure: Any
    numbers: Rows
    facts: dict[str, Any]
    paper: dict[str, Any] = field(default_factory=dict)
    table: Rows = ()
    verdicts: Sequence[Verdict] = ()


def write_rows(rows: Rows, path: Path) -> None:
    """Rows as CSV; the columns are those of all rows, in the order of their first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: plain(value) for name, value in row.items()})


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a CSV file, numbers as numbers."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {name: parsed(value) for name, value in row.items()} for row in csv.DictReader(file)
        ]


def plain(value: Any) -> Any:
    """NumPy scalars as Python's own, so that every number is written in full."""
    return value.item() if hasattr(value, "item") else value


def parsed(text: str) -> Any:
    """A cell as a number, a truth value or a word."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write_result(name: str, result: Result, folder: Path, facts: Mapping[str, Any]) -> None:
    """Write all files of an experiment: pictures, numbers, facts, and the text made of them."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(result.numbers, folder / f"{name}.csv")
    sources = {"measured": result.facts, "paper": result.paper, "run": facts}
    listed = [
        {"fact": fact, "value": value, "source": source}
        for source, values in sources.items()
        for fact, value in values.items()
    ]
    write_rows(listed, folder / f"{name}_facts.csv")
    if result.table:
        write_rows(result.table, folder / f"{name}_table.csv")
    save_figure(result.figure, folder / name)
    (folder / f"{name}.txt").write_text(section(name, result, folder), encoding="utf-8")


def write_verdicts(name: str, result: Result, folder: Path, facts: Mapping[str, Any]) -> None:
    """Enter the verdicts of a run into the list of all runs, by experiment, size and seed."""
    folder.mkdir(parents=True, exist_ok=True)
    path, run = folder / VERDICTS, (name, facts["size"], facts["seed"])
    known = {**result.facts, **result.paper, **facts}
    fresh = [
        {
            "experiment": name,
            "size": facts["size"],
            "seed": facts["seed"],
            "claim": verdict.claim.format(**known),
            "holds": UNDECIDED if verdict.holds is None else bool(verdict.holds),
            "evidence": verdict.evidence.format(**known),
        }
        for verdict in result.verdicts
    ]
    earlier = read_rows(path) if path.exists() else []
    kept = [row for row in earlier if (row["experiment"], row["size"], row["seed"]) != run]
    write_rows(sorted([*kept, *fresh], key=lambda row: (row["experiment"], row["seed"])), path)


def read_facts(path: Path) -> dict[str, Any]:
    """Facts of an experiment by their names."""
    return {str(row["fact"]): row["value"] for row in read_rows(path)}


def save_figure(figure: Any, stem: Path) -> None:
    """The picture as PNG and SVG; the SVG holds no date, so that equal pictures are equal files."""
    import matplotlib as mpl

    figure.savefig(stem.with_suffix(".png"), dpi=110)
    with mpl.rc_context({"svg.hashsalt": "bayesmargin", "svg.fonttype": "none"}):
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})


RUN = (
    "Run at size *{size}*, seed {seed}: {seconds:.0f} s of processor time, of which "
    "{search_seconds:.0f} s for grid searches."
)


def section(name: str, result: Result, folder: Path) -> str:
    """The part of the page that is about one experiment, from its CSV files."""
    facts = read_facts(folder / f"{name}_facts.csv")
    lines = [f"## {result.title}", "", f"![{result.title}](reproduction/{name}.png)", ""]
    lines += [result.text.format(**facts), ""]
    if result.table:
        lines += [*markdown_table(read_rows(folder / f"{name}_table.csv")), ""]
    for verdict in result.verdicts:
        word = (
            "Undecided" if verdict.holds is None else "Holds" if verdict.holds else "Does not hold"
        )
        claim, evidence = verdict.claim.format(**facts), verdict.evidence.format(**facts)
        lines.append(f"* **{word}:** {claim}. {evidence}.")
    lines += ["", RUN.format(**facts)]
    links = f"[numbers](reproduction/{name}.csv), [facts](reproduction/{name}_facts.csv), "
    lines += [f"Files: {links}[picture as SVG](reproduction/{name}.svg).", ""]
    return "\n".join(lines)


def markdown_table(rows: Rows) -> list[str]:
    """Rows as a table of the page."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(shown(row[name]) for name in names) + " |" for row in rows]
    return lines


def shown(value: Any) -> str:
    """A number with four digits, thousands apart."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
