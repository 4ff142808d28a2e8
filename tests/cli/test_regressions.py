"""Regressions from the shell: values in place of classes."""

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import QUICK, answer, bayesmargin, failing


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    rng = np.random.default_rng(0)
    size, town = rng.uniform(30.0, 200.0, 400), rng.choice(["Bern", "Basel"], 400)
    price = 5e3 * size + 1e5 * (town == "Basel") + 400.0 * size * rng.standard_normal(400)
    path = tmp_path_factory.mktemp("houses") / "houses.csv"
    pd.DataFrame({"size": size.round(1), "town": town, "price": price}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("model", ["svr", "quantile"])
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
def test_fit_predict_evaluate_and_info(model, houses, tmp_path):
    place = tmp_path / "model"
    settings = ["--set", "C=auto"]
    if model == "quantile":
        settings += ["--set", "quantile=[0.1, 0.5, 0.9]"]
    fitted = answer(
        "fit", houses, "--target", "price", "--model", model, "-o", place, *settings, *QUICK
    )
    assert fitted["classes"] is None
    assert fitted["rows"] == {"training": 320, "validation": 80}
    assert fitted["validation"]["r2"] > 0.8
    assert 0.8 < fitted["validation"]["coverage_90"] <= 1.0
    found = answer("evaluate", place, houses, "--target", "price")
    assert found["rows"] == 400
    assert found["mean_absolute_error"] < 6e4
    table = answer("predict", place, houses)["predictions"]
    assert all(row["low_90"] < row["predicted"] < row["high_90"] for row in table)
    assert ("q0.9" in table[0]) == (model == "quantile")
    told = bayesmargin("info", place)
    assert told.code == 0
    assert "coverage" in told.out
    assert answer("report", place)["rows"] == 80
    assert "Do intervals hold" in place.with_suffix(".html").read_text(encoding="utf-8")


def test_words_are_no_values(houses, tmp_path):
    words = failing(3, "fit", houses, "--target", "town", "--model", "svr", "-o", tmp_path / "m")
    assert "a regression predicts numbers" in words
    words = failing(3, "fit", houses, "--target", "price", "-o", tmp_path / "m")
    assert "a measurement and not a class" in words
