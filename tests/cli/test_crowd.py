"""``bayesmargin crowd``: from a table of votes to labels and workers."""

import pandas as pd
import pytest

from bayesmargin import load
from tests.cli.conftest import answer, bayesmargin, failing
from tests.crowd.test_voting import crowd

QUICK = ["--sweeps", "60", "--chains", "2", "--set", "n_draws=10"]


@pytest.fixture
def votes(tmp_path):
    rows, truth = crowd(40)
    table = pd.DataFrame(rows, columns=["item", "worker", "label"])
    table["label"] = table["label"].map({0: "cat", 1: "dog"})
    table.to_csv(tmp_path / "votes.csv", index=False)
    told = pd.DataFrame({"item": range(10), "label": truth[:10]})
    told["label"] = told["label"].map({0: "cat", 1: "dog"})
    told.to_csv(tmp_path / "known.csv", index=False)
    return tmp_path / "votes.csv"


def test_labels_and_workers_are_written_and_shown(votes, tmp_path):
    result = bayesmargin("crowd", votes, "-o", tmp_path / "o.csv", "--workers", tmp_path / "w.csv",
                         "--save", tmp_path / "model", *QUICK)  # fmt: skip
    assert result.code == 0, result.err
    assert "200 labels of 40 items by 5 workers; 2 classes" in result.out
    items, workers = pd.read_csv(tmp_path / "o.csv"), pd.read_csv(tmp_path / "w.csv")
    assert list(items) == ["item", "label", "probability", "p(cat)", "p(dog)"]
    assert len(workers) == 5
    assert (load(tmp_path / "model").labels_ == items["label"]).all()
    assert bayesmargin("info", tmp_path / "model").code == 0


def test_the_document_says_the_same(votes):
    document = answer("crowd", votes, *QUICK)
    assert document["labels"] == 200
    assert document["classes"] == ["cat", "dog"]
    assert len(document["items"]) == 40
    assert document["items"][0]["label"] in ("cat", "dog")
    assert document["workers"][0].keys() >= {"worker", "accuracy", "weight"}
    assert "summary" in document["diagnostics"]
    again = answer("crowd", votes, *QUICK)
    assert again["items"] == document["items"]


def test_known_labels_are_kept(votes):
    document = answer("crowd", votes, "--known", votes.with_name("known.csv"), *QUICK)
    assert all(one["probability"] == 1.0 for one in document["items"][:10])


def test_what_is_wrong_is_said_in_a_sentence(votes, tmp_path):
    assert "C=-1.0" in failing(2, "crowd", votes, "--C", "-1")
    assert "did you mean margin" in failing(2, "crowd", votes, "--set", "margim=2")
    assert "a flag of its own" in failing(2, "crowd", votes, "--C", "1", "--set", "C=2")
    assert "no file" in failing(3, "crowd", tmp_path / "nowhere.csv")
    (tmp_path / "two.csv").write_text("item,label\n1,2\n")
    assert "has the columns item, label" in failing(3, "crowd", tmp_path / "two.csv")


def test_a_saved_vote_has_a_report(votes, tmp_path):
    bayesmargin("crowd", votes, "--save", tmp_path / "model", "--quiet", *QUICK)
    page = tmp_path / "report.html"
    assert bayesmargin("report", tmp_path / "model", "--output", page).code == 0
    assert "Whom to rely on" in page.read_text(encoding="utf-8")
