"""The page in docs/ says what its CSV files say, in the words of the code."""

import importlib
from pathlib import Path

import pytest

from bayesmargin.experiments import NAMES
from bayesmargin.experiments.page import write_page
from bayesmargin.experiments.results import read_facts

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
