"""The run that shows what the library is for, as a command after a plain install."""

from pathlib import Path

from bayesmargin import demo
from tests.cli.conftest import answer, bayesmargin


def test_the_demo_compares_and_draws(tmp_path):
    found = answer("demo", "-o", tmp_path / "pictures")
    models = found["models"]
    assert list(models) == ["LinearSVC", "calibrated LinearSVC", "BayesianLinearSVC"]
    assert models["BayesianLinearSVC"]["accuracy"] > 0.95
    assert models["BayesianLinearSVC"]["log_loss"] < 0.15
    assert "log_loss" not in models["LinearSVC"]
    assert found["trustworthy"] is True
    assert all(0.2 < row["probability"] < 0.8 for row in found["doubtful"])
    assert all(Path(path).read_bytes()[1:4] == b"PNG" for path in found["pictures"])


def test_without_matplotlib_the_demo_says_what_draws_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    told = bayesmargin("demo", "-o", tmp_path / "none").out
    assert "calibrated LinearSVC" in told
    assert 'pip install "bayesmargin[plots]"' in told
    assert not (tmp_path / "none").exists()
