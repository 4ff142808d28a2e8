"""Reports of regressions: errors, intervals and rows far off in place of classes."""

import re

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.report import write_report

QUICK = {"C": "auto", "n_draws": 150, "random_state": 0}


def rows(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, 5.0 + X @ [2.0, 0.0, -1.0] + rng.standard_t(4, size=n)


def words_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("kind", ["tube", "quantiles", "outputs"])
def test_a_page_tells_errors_intervals_and_cases(kind, tmp_path):
    (X, y), (new, truth) = rows(0), rows(1)
    if kind == "quantiles":
        model = BayesianQuantileRegressor([0.1, 0.5, 0.9], **QUICK).fit(X, y)
    elif kind == "outputs":
        y, truth = np.column_stack([y, -3.0 * y]), np.column_stack([truth, -3.0 * truth])
        model = BayesianLinearSVR(**QUICK).fit(X, y)
    else:
        model = BayesianLinearSVR(**QUICK).fit(X, y)
    path = write_report(model, tmp_path / "page.html", data=(new, truth))
    page = path.read_text(encoding="utf-8")
    words = words_of(page)
    values = model.predict(new)
    values = model.central(values) if kind == "quantiles" else values
    error = np.abs(truth - values).mean()
    assert f"{error:.3g} ±" in words
    assert "Do intervals hold what they promise?" in words
    assert "intervals hold as many new values as they promise" in words
    assert "farthest off" in words
    assert "least certain" in words
    assert ("quantile 0.9" in words) == (kind == "quantiles")
    assert ("output 1" in words) == (kind == "outputs")
    assert "Accuracy" not in words
    assert "nan" not in words.lower().split()


def test_without_values_the_page_says_what_is_missing(tmp_path):
    model = BayesianLinearSVR(**QUICK).fit(*rows(0))
    words = words_of(write_report(model, tmp_path / "a.html").read_text(encoding="utf-8"))
    assert "No held-out rows with values were given" in words
    assert "farthest off" not in words
    path = write_report(model, tmp_path / "b.html", data=(rows(1)[0], None))
    words = words_of(path.read_text(encoding="utf-8"))
    assert "least certain" in words
    assert "farthest off" not in words


def test_values_of_another_number_are_refused(tmp_path):
    model = BayesianLinearSVR(**QUICK).fit(*rows(0))
    X, y = rows(1)
    with pytest.raises(ValueError, match="2 values a row, but the model predicts 1"):
        write_report(model, tmp_path / "a.html", data=(X, np.column_stack([y, y])))
