"""No module needs, by whatever way, one that needs it: neither at its head, nor later."""

import ast
from functools import cache
from pathlib import Path

import pytest

import bayesmargin

ROOT = Path(bayesmargin.__file__).parent


@cache
def modules():
    """Files of the package by the names of their modules."""
    found = {}
    for file in ROOT.rglob("*.py"):
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def named(node):
    """Modules that an import names, as it is written."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in modules() else node.module for name in inner]
    return []


def at_the_head(name):
    """Modules that Python runs before this one: those named at its head, and their packages."""
    for node in ast.parse(modules()[name].read_text(encoding="utf-8")).body:
        for other in named(node):
            parts = other.split(".")
            for length in range(1, len(parts) + 1):
                package = ".".join(parts[:length])
                if package in modules() and not f"{name}.".startswith(f"{package}."):
                    yield package


def anywhere(name):
    """Modules named anywhere in this one, by functions and for types, too.

    Packages themselves are left out: their heads pass on names for those outside.
    """
    if is_package(name):
        return
    for node in ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))):
        for other in named(node):
            if other in modules() and not is_package(other):
                yield other


def is_package(name):
    return modules()[name].name == "__init__.py"


def circles(graph):
    """What is left of a graph when all who stand in no circle, and between none, are taken away."""
    left = {name: set(needs) - {name} for name, needs in graph.items()}
    while True:
        needed = set().union(*left.values())
        kept = {name for name, needs in left.items() if needs & left.keys() and name in needed}
        if len(kept) == len(left):
            return {name: sorted(needs) for name, needs in left.items()}
        left = {name: left[name] & kept for name in kept}


@pytest.mark.parametrize("needs", [at_the_head, anywhere])
def test_imports_hold_no_circle(needs):
    found = circles({name: needs(name) for name in modules()})
    assert not found, "\n".join(f"{name} needs {others}" for name, others in found.items())


def test_a_circle_would_be_found():
    graph = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": [], "e": ["a"]}
    assert circles(graph) == {"b": ["c"], "c": ["b"]}
