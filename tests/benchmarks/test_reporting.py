"""A verdict of a benchmark can fail: nothing measured is nothing met."""

import importlib.util
import json
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "reporting.py"


@pytest.fixture
def reporting(tmp_path, monkeypatch):
    if not FILE.exists():
        pytest.skip("benchmarks are not part of an installed package")
    spec = importlib.util.spec_from_file_location("reporting", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


def test_no_rows_meet_no_bound(reporting, tmp_path, capsys):
    """As where all sets were skipped: ``all`` of no rows is true, and the file was overwritten."""
    reporting.finish("speed", ["set", "met"], [["a9a", True]], True)
    assert "all bounds met" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="NOTHING was measured"):
        reporting.finish("speed", ["set", "met"], [], all([]))
    kept = json.loads((tmp_path / "speed.json").read_text())
    assert kept["rows"] == [{"set": "a9a", "met": True}]


def test_a_look_at_one_set_leaves_the_results_of_all(reporting, tmp_path, capsys):
    header, rows = ["set", "met"], [["a9a", True], ["higgs", False]]
    reporting.finish("speed", header, rows, False)
    whole = (tmp_path / "speed.json").read_text()
    reporting.finish("speed", header, [["a9a", True]], True)
    assert (tmp_path / "speed.json").read_text() == whole
    assert "not kept: the earlier results have higgs as well" in capsys.readouterr().out
    reporting.finish("speed", header, [*rows, ["digits", True]], False)
    assert "digits" in (tmp_path / "speed.json").read_text()


PROGRAMS = [
    file
    for file in sorted(FILE.parent.glob("*.py"))
    if '__name__ == "__main__"' in file.read_text(encoding="utf-8")
]
ASKS = ("command_line", "no_options", "chosen_sets", "read_options", "sets_and_processes")


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_benchmarks_read_their_command_line_before_they_run(file):
    """Asked for ``--help``, some ran for minutes and wrote results."""
    text = file.read_text(encoding="utf-8")
    assert any(f"{ask}(__doc__" in text for ask in ASKS)
    assert "sys.argv" not in text
