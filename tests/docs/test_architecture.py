"""The page on the architecture is true: its files are there, and none imports from its right."""

import ast
import re
from pathlib import Path

import pytest

import bayesmargin

ROOT = Path(bayesmargin.__file__).parent
PAGE = ROOT.parents[1] / "docs" / "architecture.md"
LAST = "estimator"  # steps after it stand beside the flow

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")


def steps():
    """Names of the steps with the files and folders that the table gives them."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) == 3 and re.match(r"\| \w", line) and "`" in cells[1]:
            yield cells[0].strip("| "), paths(cells[1])


def paths(cell):
    """Paths in a cell; a name alone belongs to the folder of the one before, or to the package."""
    folder, found = ROOT, []
    for name in re.findall(r"`([\w/*.]+)`", cell):
        folder = next((f for f in (ROOT, folder) if any(f.glob(name))), None)
        assert folder is not None, f"{name} of {cell!r} is not there"
        found += folder.glob(name)
        path = folder / name
        folder = path if path.is_dir() else path.parent
    return found


def ranks():
    """Step of every module in the flow; a file counts by itself, others by their folder."""
    flow, folders, files = [], {}, {}
    for name, found in steps():
        flow.append(name)
        for path in found:
            (folders if path.is_dir() else files).setdefault(path, len(flow) - 1)
        if name == LAST:
            break
    result = {
        file: rank for folder, rank in folders.items() for file in folder.rglob("*.py")
    } | files
    return flow, result


def imported(file):
    """Modules of the package that a module imports when it is imported, and the names taken."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesmargin"):
            for alias in node.names:
                inner = ROOT.joinpath(*node.module.split(".")[1:], alias.name)
                outer = ROOT.joinpath(*node.module.split(".")[1:])
                for path in (inner, outer):
                    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
                    if module.exists():
                        yield module, alias.name
                        break


def test_no_module_of_the_flow_imports_from_its_right():
    flow, rank = ranks()
    assert flow[0] == "beneath"
    assert flow[-1] == LAST
    wrong = [
        f"{file.relative_to(ROOT)} ({flow[own]}) imports {other.relative_to(ROOT)} "
        f"({flow[rank[other]]})"
        for file, own in rank.items()
        for other, _ in imported(file)
        if rank.get(other, -1) > own
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_private_to_a_module_is_imported_by_nobody():
    taken = [
        f"{file.relative_to(ROOT)} imports {name} of {module.relative_to(ROOT)}"
        for file in ROOT.rglob("*.py")
        for module, name in imported(file)
        if name.startswith("_") and not name.startswith("__")
    ]
    assert not taken, "\n".join(taken)


def test_every_module_and_package_has_its_place_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    names = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in ROOT.iterdir()
        if path.is_dir() or path.suffix == ".py"
    }
    missing = [name for name in sorted(names) if not name.startswith("__") and name not in page]
    assert not missing
