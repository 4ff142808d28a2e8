"""Small files to fit, and the program in this process."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayesmargin.cli.main import app

QUICK = ["--draws", "60", "--chains", "2"]


def bayesmargin(*words):
    """Run a command; gives its exit code, stdout and stderr."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    return SimpleNamespace(code=result.exit_code, out=result.stdout, err=result.stderr)


def answer(*words):
    """Run a command with ``--json``; gives its document."""
    result = bayesmargin(*words, "--json")
    assert result.code == 0, result.out + result.err
    return json.loads(result.out)


def failing(code, *words):
    """Run a command that should fail; gives its one sentence."""
    result = bayesmargin(*words)
    assert result.code == code, result.out + result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    last = result.err.strip().splitlines()[-1]
    assert last.startswith("bayesmargin: error: ")
    said = json.loads(bayesmargin(*words, "--json").out)["error"]
    assert said["code"] == code
    assert said["message"] == last.removeprefix("bayesmargin: error: ")
    return said["message"]


def make_people(n_rows=240):
    rng = np.random.default_rng(3)
    age = rng.normal(40.0, 12.0, n_rows).round()
    job = rng.choice(["clerk", "farmer", "nurse", "pilot"], n_rows)
    member = rng.choice([True, False], n_rows)
    score = 0.08 * (age - 40.0) + 2.0 * (job == "pilot") - (job == "farmer") + 0.5 * member
    rich = score + rng.logistic(0.0, 0.3, n_rows) > 0.3
    return pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n_rows)],
            "age": age,
            "job": job,
            "member": member,
            "country": "CH",
            "income": np.where(rich, "high", "low"),
        }
    )


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A folder with ``people.csv`` and a model fitted on it."""
    folder = tmp_path_factory.mktemp("people")
    make_people().to_csv(folder / "people.csv", index=False)
    fitted = answer("fit", folder / "people.csv", "--target", "income", "--id", "name",
                    "-o", folder / "model", "--quiet", *QUICK)  # fmt: skip
    return SimpleNamespace(folder=folder, csv=folder / "people.csv", model=folder / "model",
                           document=fitted)  # fmt: skip
