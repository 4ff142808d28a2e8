"""Data frames and labels as people have them, for every model."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bayesmargin import (
    BayesianLinearSVC,
    DPMNLClassifier,
    InfiniteSVC,
    MedLDAClassifier,
)
from bayesmargin.errors import DataError
from bayesmargin.inputs import checks as inputs
from bayesmargin.inputs.checks import plain_labels, require_numbers
from bayesmargin.rows import open_rows

pytest.importorskip("pyarrow")

N_ROWS = 40
RNG = np.random.default_rng(4)
TABLE = pd.DataFrame(RNG.poisson(1.0, (N_ROWS, 3)), columns=["age", "visits", "score"])
TRUTH = TABLE.age.to_numpy() > 0
WORDS = np.where(TRUTH, "yes", "no")
MODELS = {
    "linear": BayesianLinearSVC(n_draws=20, n_chains=2, random_state=0),
    "medlda": MedLDAClassifier(n_topics=2, n_chains=1, sampler__n_passes=1, random_state=0),
    "infinite": InfiniteSVC(n_sweeps=4, random_state=0),
    "dpmnl": DPMNLClassifier(n_sweeps=4, random_state=0),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")


@each_model
def test_columns_of_words_and_times_are_named(model):
    for kind in ("str", "category", object):
        table = TABLE.assign(job=pd.Series(np.where(TRUTH, "nurse", "pilot")).astype(kind))
        with pytest.raises(DataError, match=r"column 'job' of X holds words, such as '(nurse|p)"):
            model.fit(table, TRUTH)
    with pytest.raises(DataError, match="column 'since' of X holds times, such as '2024-01-01"):
        model.fit(TABLE.assign(since=pd.Timestamp("2024-01-01")), TRUTH)
    model.fit(TABLE, TRUTH)
    with pytest.raises(DataError, match="column 'age' of X holds words, such as 'old'"):
        model.predict(TABLE.astype({"age": object}).replace({"age": {0: "old"}}))


def test_other_columns_that_hold_no_numbers_are_named_as_well():
    zone = pd.Series(pd.date_range("2024-01-01", periods=N_ROWS, tz="Europe/Berlin"))
    days = pd.Series(pd.period_range("2024-01-01", periods=N_ROWS, freq="D"))
    dates = zone.dt.date.where(np.arange(N_ROWS) > 0)
    for since in (zone, days, dates, zone.dt.time, zone - zone[0]):
        with pytest.raises(DataError, match="column 'since' of X holds times, such as '"):
            require_numbers(TABLE.assign(since=since))
    for value in ([1, 2], {"a": 1}, np.zeros(2), np.zeros(1), 1j):
        table = TABLE.assign(odd=pd.Series([None, *[value] * (N_ROWS - 1)], dtype=object))
        with pytest.raises(DataError, match=r"column 'odd' of X holds no numbers, but .* such as"):
            require_numbers(table)
    missing = pd.Series([None, np.nan, pd.NA, Decimal("1.5"), *[True] * (N_ROWS - 4)], dtype=object)
    assert require_numbers(TABLE.assign(score=missing)) is None


def test_numbers_of_every_type_are_the_same_rows():
    model = BayesianLinearSVC(n_draws=20, n_chains=2, random_state=0)
    expected = model.fit(TABLE.astype(float), TRUTH).coef_
    for kind in ("Int64", "Float64", "int64[pyarrow]", "category", object, str):
        table = TABLE.astype(kind)
        assert require_numbers(table) is None
        np.testing.assert_array_equal(model.fit(table, TRUTH).coef_, expected)
    assert require_numbers(TABLE.rename(columns={"visits": "age"})) is None


@each_model
def test_labels_of_pandas_types_come_back_plain(model):
    for given, expected in {"boolean": bool, "Int64": np.int64, "bool[pyarrow]": bool}.items():
        model.fit(TABLE, pd.Series(TRUTH).astype(given))
        assert model.classes_.dtype == expected
        assert model.predict(TABLE).dtype == expected


@each_model
def test_missing_labels_are_told_with_their_row(model):
    holes = pd.Series(WORDS, dtype=object)
    holes[[4, 9]] = None
    for y in (holes, holes.astype("string"), holes.astype("category"), holes.tolist(),
              holes.to_numpy(), holes.where(holes.notna(), np.nan),
              holes.astype("string").tolist()):  # fmt: skip
        with pytest.raises(DataError, match=r"no label in row 4 and in 1 more \(counted from 0\)"):
            model.fit(TABLE, y)
    numbers = pd.Series(TRUTH).astype("Int64").where(np.arange(N_ROWS) != 7)
    with pytest.raises(DataError, match=r"no label in row 7 \(counted from 0\)"):
        model.fit(TABLE, numbers)


@each_model
def test_words_among_numbers_are_refused(model):
    mixed = np.array(["yes" if true else 0 for true in TRUTH], dtype=object)
    with pytest.raises(DataError, match="words and other labels, such as 'yes' and 0"):
        model.fit(TABLE, mixed)


def test_labels_that_are_all_words_are_not_looked_at_one_by_one(monkeypatch):
    """Millions of them took seconds."""
    words = WORDS.astype(object)
    with monkeypatch.context() as patched:
        patched.setattr(inputs, "_is_missing", lambda value: pytest.fail("looked at"))
        assert plain_labels(words) is words
    words[7] = None
    with pytest.raises(DataError, match="no label in row 7 "):
        plain_labels(words)


def test_missing_labels_beside_a_file_are_told(tmp_path):
    np.save(tmp_path / "rows.npy", TABLE.to_numpy(float))
    rows = open_rows(tmp_path / "rows.npy")
    with pytest.raises(DataError, match="no label in row 3"):
        MODELS["linear"].fit(rows, [*WORDS[:3], None, *WORDS[4:]])


@pytest.mark.parametrize(
    "y",
    [None, [1, 2], ["a", "b"], [[1, 0], [0, 1]], np.array([0.5, np.nan]), [[1], [1, 2]],
     pd.DataFrame({"a": [0, 1], "b": [1, 0]}), pd.Series(["a", "b"])],
)  # fmt: skip
def test_other_labels_are_left_to_scikit_learn(y):
    assert plain_labels(y) is y


def test_a_missing_indicator_is_told_with_its_row():
    table = pd.DataFrame({"a": [0, 1, 1], "b": [1.0, np.nan, np.nan]})
    with pytest.raises(DataError, match="no label in row 1 and in 1 more"):
        plain_labels(table)


def test_a_table_that_is_not_computed_yet_is_told_so():
    class LazyFrame:
        def collect(self):
            raise AssertionError

    with pytest.raises(DataError, match=r"X is a LazyFrame, .* pass X\.collect\(\)"):
        MODELS["linear"].fit(LazyFrame(), WORDS)
