"""What the commands do with files that are in order."""

import json

import numpy as np
import pandas as pd
import pytest

from bayesmargin import load
from bayesmargin.saving import read_model
from tests.cli.conftest import QUICK, answer, bayesmargin, failing, make_people


def test_fit_describes_rows_preparation_scores_and_diagnostics(people):
    document = people.document
    assert document["rows"] == {"training": 192, "validation": 48}
    assert document["classes"] == ["high", "low"]
    assert document["preparation"]["categories"] == {"job": 4}
    assert document["preparation"]["constant"] == ["country"]
    assert document["preparation"]["standardised"] is True
    assert document["validation"]["accuracy"] > 0.7
    assert document["diagnostics"]["max_rhat"] > 0.9
    assert document["warnings"] == ["constant columns left out: 'country'"]


def test_the_model_carries_its_preparation_and_names(people):
    estimator, extras = read_model(people.model)
    assert extras["preparation"]["kind"] == "columns"
    assert extras["feature_names"] == [
        "age", "job=clerk", "job=farmer", "job=nurse", "job=pilot", "member"
    ]  # fmt: skip
    assert estimator.posterior_.coords["feature"] == extras["feature_names"]
    assert estimator.checkpoint is None


def test_a_second_fit_gives_the_same_scores(people, tmp_path):
    again = answer("fit", people.csv, "--target", "income", "--id", "name", "-o", tmp_path / "m",
                   "--quiet", *QUICK)  # fmt: skip
    assert again["validation"] == people.document["validation"]


def test_human_output_of_fit_goes_to_stdout_and_remarks_to_stderr(people, tmp_path):
    result = bayesmargin("fit", people.csv, "--target", "income", "--drop", "name",
                         "-o", tmp_path / "m", *QUICK)  # fmt: skip
    assert result.code == 0
    assert "1 number standardised; 1 column of 0 and 1 left alone; 1 category" in result.out
    assert "held-out rows: accuracy" in result.out
    assert "constant columns left out: 'country'" in result.err
    assert "sampling" in result.err
    assert "worst R-hat" in result.err
    assert "validation accuracy" in result.err


def test_one_of_a_kind_is_not_told_as_many(people, tmp_path):
    others = [word for name in ("name", "country", "job", "member") for word in ("--drop", name)]
    result = bayesmargin("fit", people.csv, "--target", "income", *others, "--chains", "1",
                         "--draws", "60", "-o", tmp_path / "m")  # fmt: skip
    assert result.code == 0
    assert "192 rows, 1 feature, 2 classes" in result.out
    assert bayesmargin("report", tmp_path / "m", "-o", tmp_path / "page.html").code == 0
    assert "1 chain of 60" in (tmp_path / "page.html").read_text()


def test_quiet_shows_no_progress(people, tmp_path):
    result = bayesmargin("fit", people.csv, "--target", "income", "--drop", "name", "--drop",
                         "country", "-o", tmp_path / "m", "--quiet", *QUICK)  # fmt: skip
    assert result.err == ""


def test_quiet_has_no_remarks_about_columns_outside_json(people, tmp_path):
    words = ("fit", people.csv, "--target", "income", "--drop", "name", "-o", tmp_path / "m",
             "--quiet", *QUICK)  # fmt: skip
    assert bayesmargin(*words).err == ""
    assert answer(*words)["warnings"] == ["constant columns left out: 'country'"]


def test_columns_beside_documents_are_left_out_with_a_remark(tmp_path):
    frame = pd.DataFrame({"note": ["red roses", "blue sky"] * 20, "age": range(40), "n": range(40),
                          "mood": ["gay", "sad"] * 20})  # fmt: skip
    frame.to_csv(tmp_path / "notes.csv", index=False)
    fitted = answer("fit", tmp_path / "notes.csv", "--text", "note", "--target", "mood", "--drop",
                    "n", "-o", tmp_path / "m", "-q", "--vectorizer", "max_df=1.0",
                    *QUICK)  # fmt: skip
    expected = "only the documents of column 'note' are read; columns left out: 'age'"
    assert expected in fitted["warnings"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "json", "jsonl"])
def test_predict_writes_every_format_with_names_and_uncertainty(people, tmp_path, ending):
    new = make_people(30).drop(columns="income")
    new.to_csv(tmp_path / "new.csv", index=False)
    target = tmp_path / f"out.{ending}"
    assert answer("predict", people.model, tmp_path / "new.csv", "-o", target)["rows"] == 30
    readers = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "parquet": pd.read_parquet,
        "json": lambda path: pd.DataFrame(json.loads(path.read_text())),
        "jsonl": lambda path: pd.DataFrame(map(json.loads, path.read_text().splitlines())),
    }
    table = readers[ending](target)
    assert list(table) == [
        "name", "predicted", "probability", "p(high)", "p(low)", "score", "score_sd", "votes"
    ]  # fmt: skip
    assert table["name"].tolist() == new["name"].tolist()
    np.testing.assert_allclose(table["p(high)"] + table["p(low)"], 1.0)
    assert (table["score_sd"] > 0).all()
    assert table["votes"].between(0, 1).all()
    assert set(table["predicted"]) <= {"high", "low"}


def test_predict_writes_csv_to_stdout_and_tells_of_unknown_categories(people, tmp_path):
    new = make_people(10).drop(columns="income")
    new.loc[4, "job"] = "baker"
    new["hobby"] = "chess"
    new.to_csv(tmp_path / "new.csv", index=False)
    result = bayesmargin("predict", people.model, tmp_path / "new.csv")
    assert result.code == 0
    assert len(result.out.splitlines()) == 11
    assert "1 row with categories of 'job' that training did not see ('baker')" in result.err
    assert "ignored: 'hobby'" in result.err
    document = answer("predict", people.model, tmp_path / "new.csv")
    assert len(document["predictions"]) == 10
    assert len(document["warnings"]) == 2


def test_evaluate_agrees_with_scikit_learn(people):
    from sklearn.metrics import (
        accuracy_score,
        balanced_accuracy_score,
        brier_score_loss,
        confusion_matrix,
        log_loss,
    )

    document = answer("evaluate", people.model, people.csv)
    truth = make_people()["income"]
    found = pd.DataFrame(answer("predict", people.model, people.csv)["predictions"])
    probability = found[["p(high)", "p(low)"]].to_numpy()
    assert document["accuracy"] == pytest.approx(accuracy_score(truth, found["predicted"]))
    assert document["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(truth, found["predicted"])
    )
    assert document["log_loss"] == pytest.approx(log_loss(truth, probability))
    assert document["brier"] == pytest.approx(
        brier_score_loss(truth, probability[:, 1], pos_label="low")
    )
    assert document["confusion"] == confusion_matrix(truth, found["predicted"]).tolist()
    assert 0.0 <= document["calibration_error"] < 0.2
    human = bayesmargin("evaluate", people.model, people.csv)
    assert "balanced accuracy" in human.out
    assert "Confusions" in human.out


def test_info_of_a_model(people):
    document = answer("info", people.model)
    assert document["estimator"] == "BayesianLinearSVC"
    assert document["settings"] == {"n_chains": 2, "n_draws": 60, "random_state": 0}
    assert document["training_rows"] == 192
    assert document["preparation"]["numbers"] == 1
    assert "BayesianLinearSVC" in bayesmargin("info", people.model).out


def test_report_reads_the_held_out_rows_again(people, tmp_path):
    document = answer("report", people.model, "-o", tmp_path / "page.html")
    assert document["rows"] == 48
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "job=pilot" in page


def test_report_of_changed_data_says_why_there_is_no_accuracy(people, tmp_path):
    data = tmp_path / "people.csv"
    make_people().to_csv(data, index=False)
    answer("fit", data, "--target", "income", "--id", "name", "-o", tmp_path / "m", "-q", *QUICK)
    data.unlink()
    document = answer("report", tmp_path / "m")
    assert document["rows"] == 0
    assert "is no longer there" in document["warnings"][0]
    document = answer("report", tmp_path / "m", people.csv)
    assert document["rows"] == 240


def test_datasets_are_listed():
    document = answer("datasets")
    names = [row["name"] for row in document["datasets"]]
    assert "a9a" in names
    assert "20newsgroups_raw" in names
    assert all(row["about"] for row in document["datasets"])


def test_settings_of_the_estimator_and_of_a_sampler_object(people, tmp_path):
    answer("fit", people.csv, "--target", "income", "--id", "name", "-o", tmp_path / "m", "-q",
           *QUICK, "--C", "2", "--set", "prior=laplace", "--set", "fit_intercept=false",
           "--set", 'sampler={"name": "hmc"}', "--validation", "0")  # fmt: skip
    estimator, extras = read_model(tmp_path / "m")
    assert estimator.C == 2.0
    assert estimator.prior == "laplace"
    assert estimator.fit_intercept is False
    assert estimator.sampler == "hmc"
    assert "validation" not in extras


def test_missing_values_are_filled_in_or_dropped(tmp_path):
    holes = make_people()
    holes.loc[::20, "age"] = np.nan
    holes.loc[5::40, "job"] = None
    holes.to_csv(tmp_path / "holes.csv", index=False)
    common = ["fit", tmp_path / "holes.csv", "--target", "income", "--id", "name", "-q", *QUICK]
    filled = answer(*common, "-o", tmp_path / "m", "--missing", "median")
    assert filled["rows"]["training"] + filled["rows"]["validation"] == 240
    assert any("missing values filled in: 'age'" in warning for warning in filled["warnings"])
    assert answer("predict", tmp_path / "m", tmp_path / "holes.csv")["rows"] == 240
    dropped = answer(*common, "-o", tmp_path / "d", "--missing", "drop")
    assert dropped["rows"]["training"] + dropped["rows"]["validation"] == 222
    evaluated = answer("evaluate", tmp_path / "d", tmp_path / "holes.csv")
    assert evaluated["rows"] == 222
    assert evaluated["warnings"] == ["18 rows with missing values dropped"]


@pytest.mark.parametrize("model", ["infinite", "dpmnl"])
def test_models_with_components_show_sweeps(people, tmp_path, model):
    result = bayesmargin("fit", people.csv, "--target", "income", "--id", "name",
                         "-o", tmp_path / "m", "--model", model, "--set", "n_sweeps=24",
                         "--draws", "4")  # fmt: skip
    assert result.code == 0, result.err
    assert "sweep: 24/24" in result.err
    assert "components" in result.err
    assert "validation accuracy" in result.err
    table = pd.DataFrame(answer("predict", tmp_path / "m", people.csv)["predictions"])
    assert table["p(high)"].between(0, 1).all()
    assert answer("report", tmp_path / "m")["rows"] == 48


def test_indicators_are_left_to_the_experts_of_an_infinite_svm(people, tmp_path):
    common = ["fit", people.csv, "--target", "income", "--id", "name", "--model", "infinite",
              "--set", "n_sweeps=24", "--draws", "4"]  # fmt: skip
    result = bayesmargin(*common, "-o", tmp_path / "m")
    assert result.code == 0, result.err
    assert "told apart by 1 column of more than two values" in result.err
    assert load(tmp_path / "m").get_params()["components"] == "full"
    for value in (True, False):
        word = f"components__covariates={value}".lower()
        result = bayesmargin(*common, "-o", tmp_path / "m", "--set", word)
        assert load(tmp_path / "m").get_params()["components__covariates"] is value
        assert "told apart by" not in result.err
    numbers = tmp_path / "numbers.csv"
    make_people()[["age", "income"]].to_csv(numbers, index=False)
    result = bayesmargin("fit", numbers, "--target", "income", "--model", "infinite",
                         "--set", "n_sweeps=24", "-o", tmp_path / "n")  # fmt: skip
    assert load(tmp_path / "n").get_params()["components"] == "full"
    assert "told apart by" not in result.err


def test_version_and_help_without_arguments():
    assert bayesmargin("--version").out.startswith("bayesmargin ")
    result = bayesmargin()
    assert result.code == 2
    assert "fit" in result.err + result.out


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "topics", "crowd", "report",
                                     "resume", "info", "datasets", "reproduce"])  # fmt: skip
def test_every_command_has_help_and_json(command):
    result = bayesmargin(command, "--help")
    assert result.code == 0
    assert "--json" in result.out
    assert "--debug" in result.out


def test_rows_without_the_names_of_the_fit_are_numbered(people, tmp_path):
    new = tmp_path / "new.csv"
    make_people(12).drop(columns=["name", "income"]).to_csv(new, index=False)
    found = answer("predict", people.model, new)["predictions"]
    assert [row["row"] for row in found] == list(range(1, 13))
    assert "has no column 'name' (--id)" in failing(3, "predict", people.model, new, "--id", "name")
    labelled = tmp_path / "labelled.csv"
    make_people(12).drop(columns="name").to_csv(labelled, index=False)
    assert answer("evaluate", people.model, labelled)["rows"] == 12
    assert "(--id)" in failing(3, "fit", labelled, "--target", "income", "--id", "name")


@pytest.mark.parametrize("name", ["score", "predicted", "p(high)"])
def test_row_names_survive_a_column_called_like_a_prediction(people, tmp_path, name):
    renamed = make_people().rename(columns={"name": name})
    renamed.to_csv(tmp_path / "new.csv", index=False)
    document = answer("predict", people.model, tmp_path / "new.csv", "--id", name)
    (remark,) = [said for said in document["warnings"] if "'row'" in said]
    assert f"{name!r} is a column of the predictions" in remark
    first = document["predictions"][0]
    plain = answer("predict", people.model, people.csv)["predictions"][0]
    assert first == {"row": "p0", **{k: v for k, v in plain.items() if k != "name"}}


def test_a_label_with_a_blank_too_many_is_told(tmp_path):
    people = make_people(60).drop(columns="name")
    people.loc[::5, "income"] += " "
    people.to_csv(tmp_path / "people.csv", index=False)
    document = answer("fit", tmp_path / "people.csv", "--target", "income", "-o", tmp_path / "m",
                      "--quiet", *QUICK)  # fmt: skip
    assert len(document["classes"]) == 4
    assert any("'high', 'high '; if they are one" in said for said in document["warnings"])
