"""A few hundred of the inputs that benchmarks/fuzz_loaders.py throws at the loaders."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "fuzz_loaders.py"


def test_damaged_and_forged_files_give_clear_errors_only():
    pytest.importorskip("pyarrow")
    found = importlib.util.spec_from_file_location("fuzz_loaders", FILE)
    fuzz_loaders = importlib.util.module_from_spec(found)
    found.loader.exec_module(fuzz_loaders)
    for fuzz in fuzz_loaders.run(360, seed=11):
        assert fuzz.failures == [], fuzz.name
        assert fuzz.outcomes["refused"] > 0, fuzz.name
