"""What is written twice for the sake of packagers says the same."""

import re
import tomllib
from pathlib import Path

import pytest

import bayesmargin

ROOT = Path(bayesmargin.__file__).parents[2]
if not (ROOT / "packaging").exists():
    pytest.skip("an installed package has no recipes", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")


def test_the_recipe_asks_for_what_the_package_asks_for():
    listed = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    found = {line.strip("- ").replace(" ", "") for line in listed.splitlines()}
    assert found == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_the_version_stands_in_one_place():
    assert PROJECT["dynamic"] == ["version"]
    for name in ("pyproject.toml", "CITATION.cff", "packaging/conda/meta.yaml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(rf"version.*{re.escape(bayesmargin.__version__)}", text), name
    assert RECIPE.count("bayesmargin.cli.main:app") == 1
    assert PROJECT["scripts"] == {"bayesmargin": "bayesmargin.cli.main:app"}


def test_the_citation_has_what_its_readers_ask_for():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for field in ("cff-version", "message", "title", "authors", "license"):
        assert re.search(rf"^{field}: ?", text, re.MULTILINE), field
    assert f"license: {PROJECT['license']}" in text
