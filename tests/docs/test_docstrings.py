"""Examples in docstrings and in the gallery say what they say."""

import ast
import doctest
import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

import bayesmargin
from bayesmargin.models.registry import MODELS

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
    for name in MODELS:
        assert ">>>" in (getattr(bayesmargin, name).__doc__ or "")


def test_every_public_name_is_in_the_reference():
    """The page lists all names, also those of modules that were added since."""
    folder = ROOT.parents[1] / "docs" / "_extensions"
    if not folder.exists():
        pytest.skip("the documentation is not part of an installed package")
    pytest.importorskip("sphinx", reason="the page is made by Sphinx, which is not here")
    spec = importlib.util.spec_from_file_location("reference", folder / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    page = reference.reference_page()
    for module in ("bayesmargin", "bayesmargin.samplers", "bayesmargin.rows", "bayesmargin.report"):
        for name in reference.public_names(module, None):
            assert f"   {module}.{name}\n" in page


def shown_objects():
    """Modules, classes, methods and functions of which the reference shows the docstring."""
    source = (ROOT.parents[1] / "docs" / "_extensions" / "reference.py").read_text("utf-8")
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and node.targets[0].id in ("GROUPS", "EXPLAINED")
    }
    yield from map(importlib.import_module, values["EXPLAINED"])
    for _, name, names in values["GROUPS"]:
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        for one in names or getattr(module, "__all__", []):
            shown = getattr(module, one)
            yield shown
            yield from (vars(shown).values() if inspect.isclass(shown) else ())


def test_references_of_shown_docstrings_have_whole_names():
    """Sphinx finds no module by ``.name`` alone, and `make docs` ends at a dead reference."""
    if not (ROOT.parents[1] / "docs").exists():
        pytest.skip("the documentation is not part of an installed package")
    shown = list(shown_objects())
    assert len(shown) > 100
    relative = [one for one in shown if ":mod:`." in (inspect.getdoc(one) or "")]
    assert not relative


def test_python_in_the_pages_is_python():
    """Fenced code of the documentation can at least be parsed."""
    folder = ROOT.parents[1] / "docs"
    if not folder.exists():
        pytest.skip("the documentation is not part of an installed package")
    parsed = 0
    for page in sorted(folder.rglob("*.md")):
        if "generated" in page.parts or "_build" in page.parts:
            continue
        pieces = page.read_text(encoding="utf-8").split("```python\n")[1:]
        for piece in pieces:
            ast.parse(piece.partition("```")[0], filename=str(page))
            parsed += 1
    assert parsed > 10
