"""Examples in docstrings and in the gallery say what they say."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import bayesmargin

ROOT = Path(bayesmargin.__file__).parent


def modules_with_examples():
    for file in sorted(ROOT.rglob("*.py")):
        if "\n    >>> " in file.read_text(encoding="utf-8") or "\n>>> " in file.read_text("utf-8"):
            parts = file.relative_to(ROOT.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = list(modules_with_examples())


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_module(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("bayesmargin"):
            raise
        pytest.skip(f"needs {missing.name}, which is not here")
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


def test_estimators_show_how_they_are_used():
    for name in ("BayesianLinearSVC", "MedLDAClassifier", "InfiniteSVC", "DPMNLClassifier"):
        assert ">>>" in (getattr(bayesmargin, name).__doc__ or "")


def exported(module):
    return set(importlib.import_module(module).__all__) - {"__version__"}


@pytest.mark.parametrize(
    "module",
    ["bayesmargin", "bayesmargin.samplers", "bayesmargin.rows", "bayesmargin.datasets",
     "bayesmargin.validation", "bayesmargin.report"],
)  # fmt: skip
def test_every_public_name_is_in_the_reference(module):
    page = ROOT.parents[1] / "docs" / "api.md"
    if not page.exists():
        pytest.skip("the documentation is not part of an installed package")
    words = {line.strip().rpartition(".")[2] for line in page.read_text("utf-8").splitlines()}
    assert exported(module) - words == set()


def test_python_in_the_pages_is_python():
    """Fenced code of the documentation can at least be parsed."""
    folder = ROOT.parents[1] / "docs"
    if not folder.exists():
        pytest.skip("the documentation is not part of an installed package")
    for page in sorted(folder.rglob("*.md")):
        if "generated" in page.parts or "_build" in page.parts:
            continue
        pieces = page.read_text(encoding="utf-8").split("```python\n")[1:]
        for piece in pieces:
            ast.parse(piece.partition("```")[0], filename=str(page))
