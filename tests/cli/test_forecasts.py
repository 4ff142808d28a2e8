"""Figures of a table of predictions against the draws they come from."""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bayesmargin import BayesianLinearSVC
from bayesmargin.cli.failures import CommandError
from bayesmargin.cli.forecasts import forecast
from bayesmargin.cli.output import plain
from bayesmargin.cli.predict import write
from bayesmargin.rows import open_rows
from bayesmargin.saving import write_model
from tests.cli.conftest import QUICK, answer, bayesmargin, failing, make_people


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_score_of_several_classes_is_the_lead_over_the_next(multi_class, tmp_path):
    """What the classes share, of which only the prior knows, is no part of how sure it is."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLinearSVC(n_draws=150, multi_class=multi_class, random_state=0).fit(X, y)
    coef, intercept = model.posterior_.flat("coef"), model.posterior_.flat("intercept")
    scores = np.einsum("sbf,nf->nsb", coef, X) + intercept
    best, second = np.argsort(-scores.mean(axis=1), axis=1)[:, :2].T
    each = np.arange(len(X))
    lead = scores[each, :, best] - scores[each, :, second]
    found = forecast(model, X)
    np.testing.assert_allclose(found["score"], lead.mean(axis=1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found["score_sd"], lead.std(axis=1, ddof=1), rtol=1e-6)
    sure = found["score"] > 4.0 * found["score_sd"]
    assert sure.sum() > 10
    assert (found["votes"][sure] > 0.98).all()
    np.save(tmp_path / "rows.npy", X)
    piecewise = forecast(model, open_rows(tmp_path / "rows.npy"))
    np.testing.assert_allclose(piecewise["score_sd"], found["score_sd"], rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (pd.Timestamp("2024-02-03 04:05"), "2024-02-03 04:05:00"),
        (datetime.date(2024, 2, 3), "2024-02-03"),
        (Decimal("1.10"), "1.10"),
        (pd.NA, None),
        (pd.NaT, None),
    ],
)
def test_names_of_rows_in_json_are_what_csv_files_have(value, written):
    assert plain([value]) == [written]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_full_disk_leaves_the_predictions_that_were_there(tmp_path, ending):
    resource = pytest.importorskip("resource")
    path = tmp_path / f"out.{ending}"
    write({"row": [1, 2], "predicted": ["a", "b"]}, path)
    before = path.read_bytes()
    most, limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limit))
    try:
        with pytest.raises(CommandError, match=rf"out\.{ending} could not be written \(.*File too"):
            write({"row": np.random.default_rng(0).random(50_000)}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limit))
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_models_and_documents_saved_from_python(tmp_path):
    """Columns are found by name, and a preparation of one's own is left alone, and told of."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLinearSVC(n_draws=60, random_state=0).fit(X, y)
    write_model(model, tmp_path / "m", extras={"preparation": {"columns": ["age", "tenure"]}})
    X[X.columns[::-1]].assign(kind=y).to_csv(tmp_path / "new.csv", index=False)
    said = answer("predict", tmp_path / "m", tmp_path / "new.csv")
    assert [row["predicted"] for row in said["predictions"]] == model.predict(X).tolist()
    (warning,) = said["warnings"]
    assert "a preparation that bayesmargin fit did not make: columns are read as" in warning
    assert answer("info", tmp_path / "m")["preparation"] is None
    judged = answer("evaluate", tmp_path / "m", tmp_path / "new.csv", "--target", "kind")
    assert judged["accuracy"] == pytest.approx(model.score(X, y))
    words = ("report", tmp_path / "m", tmp_path / "new.csv", "--target", "kind")
    assert answer(*words)["rows"] == 150


def test_rows_that_were_learned_from_are_told_from_new_ones(people, tmp_path):
    assert bayesmargin("evaluate", people.model, people.csv).err == (
        f"The model has learned from {people.csv}: its figures flatter; use other rows, or the "
        f"figures of rows held out, which bayesmargin info {people.model} shows.\n"
    )
    (tmp_path / "copy.csv").write_bytes(people.csv.read_bytes())
    assert bayesmargin("evaluate", people.model, tmp_path / "copy.csv").err == ""


def test_columns_that_the_fit_was_told_to_drop_need_not_be_there(people, tmp_path):
    words = ("--target", "income", "--id", "name", "--drop", "age", "-o", tmp_path / "m", "-q")
    answer("fit", people.csv, *words, *QUICK)
    usual = answer("evaluate", tmp_path / "m", people.csv)
    new = tmp_path / "new.csv"
    make_people().drop(columns="age").to_csv(new, index=False)
    assert answer("evaluate", tmp_path / "m", new)["log_loss"] == usual["log_loss"]
    page = ("-o", tmp_path / "page.html")
    assert answer("report", tmp_path / "m", new, *page)["rows"] == usual["rows"]
    assert "has no column 'age' (--drop)" in failing(3, "fit", new, *words)


def test_labels_beside_a_table_do_without_its_column_of_labels(people, tmp_path):
    usual = answer("evaluate", people.model, people.csv)
    new, labels = tmp_path / "new.csv", tmp_path / "labels.txt"
    labels.write_text("\n".join(make_people()["income"]) + "\n")
    words = ("--labels", labels)
    for income in (None, "low"):
        table = make_people().drop(columns="income")
        if income is not None:  # of the first row alone
            table["income"] = [income, *[None] * (len(table) - 1)]
        table.to_csv(new, index=False)
        assert answer("evaluate", people.model, new, *words)["log_loss"] == usual["log_loss"]
        page = ("-o", tmp_path / "page.html")
        assert answer("report", people.model, new, *words, *page)["rows"] == 240
    said = failing(3, "fit", new, "--target", "incme", "-o", tmp_path / "m")
    assert "did you mean 'income'?" in said
