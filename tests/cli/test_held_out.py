"""Rows held out by a fit: what they are, and when a report may still call them so."""

import os
import re
import shutil

import numpy as np
import pytest

from bayesmargin.saving import read_model, write_model
from tests.cli.conftest import QUICK, answer, bayesmargin, failing, make_people


def fit(data, folder, *words):
    return answer("fit", data, "-o", folder / "model", "--quiet", *words, *QUICK)


def report(folder):
    return answer("report", folder / "model", "-o", folder / "report.html")


def refused(what):
    """Rows and warnings of a report that has none held out, because ``what`` has changed."""
    why = f"{what} has changed since the fit; give a file of labelled rows"
    return (0, [f"the report has no accuracy: {why}"])


def said(document):
    return document["rows"], document["warnings"]


@pytest.fixture
def documents(tmp_path):
    """A folder of documents for each of two classes."""
    rng = np.random.default_rng(5)
    for name, words in {"good": ["kind", "warm", "fine"], "bad": ["cold", "rude", "dull"]}.items():
        for k in range(20):
            path = tmp_path / "documents" / name / f"{k}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(" ".join(rng.choice(words, 6)))
    return tmp_path / "documents"


def test_a_folder_that_has_changed_somewhere_inside_is_noticed(documents, tmp_path):
    fit(documents, tmp_path)
    assert report(tmp_path)["rows"] == 8
    (documents / "good" / "more.txt").write_text("kind and warm")
    assert said(report(tmp_path)) == refused(documents)


def test_a_file_of_labels_that_has_changed_is_noticed(tmp_path):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 2))
    np.save(tmp_path / "rows.npy", rows)
    labels = (rows[:, 0] > 0).astype(int)
    np.savetxt(tmp_path / "labels.txt", labels, fmt="%d")
    fit(tmp_path / "rows.npy", tmp_path, "--labels", tmp_path / "labels.txt")
    assert report(tmp_path)["rows"] == 12
    np.savetxt(tmp_path / "labels.txt", labels[::-1], fmt="%d")
    os.utime(tmp_path / "labels.txt", ns=(0, 1))
    assert said(report(tmp_path)) == refused(tmp_path / "labels.txt")


def test_a_file_that_changes_while_the_model_is_fitted_is_noticed(tmp_path, monkeypatch):
    from bayesmargin import BayesianLinearSVC

    csv = tmp_path / "people.csv"
    make_people(60).drop(columns="name").to_csv(csv, index=False)
    original = BayesianLinearSVC.fit

    def slow(self, X, y):
        make_people(90).drop(columns="name").to_csv(csv, index=False)
        return original(self, X, y)

    monkeypatch.setattr(BayesianLinearSVC, "fit", slow)
    fit(csv, tmp_path, "--target", "income")
    assert said(report(tmp_path)) == refused(csv)


def test_rows_are_dropped_before_others_are_held_out(tmp_path):
    people = make_people(120).drop(columns="name")
    people.loc[:1, "income"] = "none"
    csv = tmp_path / "people.csv"
    for gone in range(2):  # whichever row is held out, its class may not vanish from training
        people.assign(age=people["age"].where(people.index != gone)).to_csv(csv, index=False)
        document = fit(csv, tmp_path, "--target", "income", "--missing", "drop",
                       "--validation", "0.5")  # fmt: skip
        assert document["classes"] == ["high", "low", "none"]
        assert sum(document["rows"].values()) == 119
        assert "1 row with missing values dropped: 'age' 1" in document["warnings"]
        assert report(tmp_path)["rows"] == document["rows"]["validation"]
        shutil.rmtree(tmp_path / "model")


def test_a_class_that_missing_values_leave_without_rows_is_gone(tmp_path):
    people = make_people(60).drop(columns="name")
    csv = tmp_path / "people.csv"
    people.assign(age=np.nan).to_csv(csv, index=False)
    command = ("fit", csv, "--target", "income", "-o", tmp_path / "m", "--missing", "drop")
    assert "every row of" in failing(3, *command)
    people.assign(age=people["age"].where(people["income"] == "low")).to_csv(csv, index=False)
    assert "has only one class, 'low'" in failing(3, *command)
    assert bayesmargin("info", tmp_path / "m").code == 4


@pytest.mark.parametrize("dropped", [False, True])
def test_cases_of_a_report_are_rows_of_the_file(tmp_path, dropped):
    people = make_people(120).rename(columns={"name": "note"})
    people["note"] = [f"number{k:03}" for k in range(1, 121)]
    data = tmp_path / "people.csv"
    if dropped:
        people.loc[[0, 1, 2, 50], "age"] = np.nan
    people.to_csv(data, index=False)
    fit(data, tmp_path, "--target", "income", "--drop", "note", "--missing", "drop")
    for more in ([], [data]):
        answer("report", tmp_path / "model", *more, "-o", tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        cases = page[page.index("Rows that are most doubtful") :]
        cases = cases[: cases.index("</table>")]
        said = re.findall(r">row (\d+)<.*?>(\d\d\.\d%)<", cases, flags=re.S)
        assert len(said) == 15
        new = people.fillna({"age": 0.0})
        new.to_csv(tmp_path / "new.csv", index=False)
        chances = answer("predict", tmp_path / "model", tmp_path / "new.csv")["predictions"]
        for number, chance in said:
            found = chances[int(number) - 1]
            assert found["row"] == int(number)
            assert f"{100 * found['probability']:.1f}%" == chance


def test_models_of_other_versions_are_told_as_such(people, tmp_path):
    estimator, extras = read_model(people.model)
    del extras["fit"]["stamps"]
    write_model(estimator, tmp_path / "model", extras)
    document = report(tmp_path)
    assert document["rows"] == 0
    assert "did not note what" in document["warnings"][0]
    extras["reading"]["dialect"] = "excel"
    extras["fit"]["library"] = "9.1"
    write_model(estimator, tmp_path / "model", extras)
    message = failing(4, "predict", tmp_path / "model", people.csv)
    assert "was fitted by bayesmargin 9.1" in message
    assert "'dialect'" in message
