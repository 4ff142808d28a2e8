"""The tutorials of ``docs/guides/command_line.md``, from the raw file to the report.

The commands are read from the guide itself, so that it cannot promise what does not run. They run
in a folder of their own: on small stand-ins for the data sets in this process by default, and on
the real sets as processes among the slow tests.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesmargin.datasets import available
from tests.cli.conftest import answer

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command_line.md"


def commands(name):
    """The commands of one tutorial of the guide, in order."""
    text = GUIDE.read_text(encoding="utf-8")
    section = re.search(rf"^## Tutorial: {re.escape(name)}.*?(?=^## |\Z)", text, re.M | re.S)
    assert section is not None, f"the guide has no tutorial called {name}"
    blocks = re.findall(r"^```bash\n(.*?)^```", section.group(), re.M | re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("bayesmargin ")]


def run(line):
    """Run a command with ``--json`` as a process; gives its document."""
    words = [sys.executable, "-m", "bayesmargin", *shlex.split(line)[1:], "--json"]
    result = subprocess.run(
        words, capture_output=True, text=True, timeout=900, env=os.environ.copy()
    )
    assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"
    return json.loads(result.stdout)


def run_here(line):
    """The same in this process: starting one takes seconds."""
    return answer(*shlex.split(line)[1:])


def follow(name, folder, monkeypatch, skip=(), run=run_here):
    """Run a tutorial; gives the documents by command."""
    monkeypatch.chdir(folder)
    found = {}
    for line in commands(name):
        command = line.split()[1]
        if command not in skip:
            found[command] = run(line)
    assert {"fit", "evaluate", "predict", "report"} <= set(found)
    page = (folder / found["report"]["report"]).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert len(page) > 20_000
    return found


def stand_in_a9a(folder):
    rng = np.random.default_rng(0)
    for part, rows in (("train", 500), ("test", 200)):
        X = (rng.random((rows, 12)) < 0.3).astype(int)
        y = np.where(2.0 * X[:, 0] - 2.0 * X[:, 1] + X[:, 2] + rng.logistic(0, 0.3, rows) > 0.4,
                     1, -1)  # fmt: skip
        frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(12)]).assign(target=y)
        frame.to_csv(folder / f"a9a-{part}.csv", index=False)


def stand_in_higgs(folder):
    rng = np.random.default_rng(1)
    for part, rows in (("train", 600), ("test", 200)):
        X = rng.standard_normal((rows, 5))
        y = (X @ [1.5, -1.0, 0.5, 0.0, 0.0] + rng.logistic(0.0, 0.4, rows) > 0.0).astype(int)
        frame = pd.DataFrame(X, columns=[f"m{j}" for j in range(5)]).assign(target=y)
        frame.to_parquet(folder / f"higgs-{part}.parquet", index=False)


def stand_in_news(folder):
    rng = np.random.default_rng(2)
    words = {"sci.space": ["orbit", "lunar", "rocket", "shuttle"],
             "rec.autos": ["engine", "wheel", "brake", "clutch"],
             "sci.med": ["doctor", "patient", "nurse", "fever"]}  # fmt: skip
    for part, count in (("train", 120), ("test", 45)):
        for number in range(count):
            group = sorted(words)[number % 3]
            place = folder / f"news-{part}" / group
            place.mkdir(parents=True, exist_ok=True)
            text = " ".join([*rng.choice(words[group], 20), *rng.choice(["people", "time"], 5)])
            (place / f"{number:04d}.txt").write_text(f"From: someone\n\n{text}\n")


def test_a_table_like_a9a(tmp_path, monkeypatch):
    stand_in_a9a(tmp_path)
    found = follow("a table as CSV", tmp_path, monkeypatch, skip=("datasets",))
    assert found["fit"]["preparation"]["indicators"] == 12
    assert found["evaluate"]["accuracy"] > 0.8
    predictions = pd.read_csv(tmp_path / found["predict"]["output"])
    assert len(predictions) == 200
    assert {"predicted", "p(-1)", "p(1)", "score_sd", "votes"} <= set(predictions)


def test_parquet_like_higgs(tmp_path, monkeypatch):
    stand_in_higgs(tmp_path)
    found = follow("a Parquet file", tmp_path, monkeypatch, skip=("datasets",))
    assert found["fit"]["preparation"]["numbers"] == 5
    assert found["evaluate"]["accuracy"] > 0.75


def test_folders_of_text_like_20_newsgroups(tmp_path, monkeypatch):
    stand_in_news(tmp_path)
    found = follow("raw text", tmp_path, monkeypatch, skip=("datasets",))
    assert found["fit"]["estimator"] == "MedLDAClassifier"
    assert found["evaluate"]["accuracy"] > 0.9
    assert len(found["topics"]["topics"]) == 40


@pytest.mark.slow
@pytest.mark.skipif(not available("a9a"), reason="a9a is not on this machine")
def test_a9a(tmp_path, monkeypatch):
    found = follow("a table as CSV", tmp_path, monkeypatch, run=run)
    assert found["fit"]["rows"]["training"] + found["fit"]["rows"]["validation"] == 32_561
    assert found["evaluate"]["rows"] == 16_281
    assert found["evaluate"]["accuracy"] > 0.84
    assert found["evaluate"]["log_loss"] < 0.34


@pytest.mark.slow
@pytest.mark.skipif(not available("higgs"), reason="HIGGS is not on this machine")
def test_higgs(tmp_path, monkeypatch):
    found = follow("a Parquet file", tmp_path, monkeypatch, run=run)
    assert found["fit"]["features"] == 28
    assert found["evaluate"]["rows"] == 5_000
    assert found["evaluate"]["accuracy"] > 0.63
    assert found["evaluate"]["log_loss"] < 0.65


@pytest.mark.slow
@pytest.mark.skipif(not available("20newsgroups_raw"), reason="20 Newsgroups are not here")
def test_20_newsgroups(tmp_path, monkeypatch):
    found = follow("raw text", tmp_path, monkeypatch, run=run)
    assert found["fit"]["rows"]["training"] + found["fit"]["rows"]["validation"] == 11_314
    assert found["evaluate"]["rows"] == 7_532
    assert found["evaluate"]["accuracy"] > 0.75
    assert len(found["topics"]["topics"]) == 40
