"""The page in docs/ says what its CSV files say, in the words of the code."""

import importlib
from pathlib import Path

import pytest

from bayesmargin.experiments import NAMES
from bayesmargin.experiments.page import write_page
from bayesmargin.experiments.results import read_facts, read_rows

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", NAMES)
def test_paragraph_follows_from_the_facts(name):
    facts = DOCS / "reproduction" / f"{name}_facts.csv"
    if not facts.exists():
        pytest.skip(f"{name} is not on the page")
    text = importlib.import_module(f"bayesmargin.experiments.{name}").TEXT
    assert text.format(**read_facts(facts)) in (DOCS / "reproduction.md").read_text()


def test_the_page_is_the_sum_of_its_sections(tmp_path):
    page = DOCS / "reproduction.md"
    if not page.exists():
        pytest.skip("no page here")
    copy = tmp_path / "reproduction"
    copy.mkdir()
    for file in (DOCS / "reproduction").iterdir():
        if file.suffix in (".txt", ".csv"):
            (copy / file.name).write_bytes(file.read_bytes())
    assert write_page(tmp_path).read_text() == page.read_text()


def verdicts_of(name):
    """Verdicts that the code gives on the committed figures, where they are a function of them."""
    folder = DOCS / "reproduction"
    facts = read_facts(folder / f"{name}_facts.csv")
    give = importlib.import_module(f"bayesmargin.experiments.{name}")._verdicts
    if name == "synthetic_posterior":
        return give(facts), facts
    if name == "convergence":
        table = read_rows(folder / f"{name}_table.csv")
        sets = ("text", "higgs", "synthetic")
        return [one for key in sets for one in give(key, facts, table)], facts
    rows = read_rows(folder / f"{name}.csv")
    return [one for key in ("protein", "ijcnn1") for one in give(key, rows, facts)], facts


@pytest.mark.parametrize("name", ["synthetic_posterior", "convergence", "infinite_svm_table"])
def test_verdicts_follow_from_the_figures(name):
    """A rule that was made stricter, or kinder, is not left behind on the page."""
    if not (DOCS / "reproduction" / f"{name}_facts.csv").exists():
        pytest.skip(f"{name} is not on the page")
    page = (DOCS / "reproduction.md").read_text()
    verdicts, facts = verdicts_of(name)
    assert len(verdicts) >= 3
    for verdict in verdicts:
        word = "Holds" if verdict.holds else "Does not hold"
        claim, evidence = verdict.claim.format(**facts), verdict.evidence.format(**facts)
        assert f"* **{word}:** {claim}. {evidence}." in page
