"""A model reads the columns of a file by name, as it reads those of a data frame."""

import numpy as np
import pandas as pd
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows

pytest.importorskip("pyarrow.parquet")

QUICK = {"n_draws": 50, "n_chains": 2, "random_state": 0}
NAMES = list("abcde")


@pytest.fixture(scope="module")
def clicks():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 5)), columns=NAMES).astype(np.float32)
    frame["clicked"] = frame.a + 2.0 * frame.b + 0.5 * rng.normal(size=600) > 0.0
    return frame


@pytest.fixture(scope="module")
def model(clicks):
    return BayesianLinearSVC(**QUICK).fit(clicks[NAMES], clicks.clicked)


def written(frame, tmp_path, **options):
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, index=False, row_group_size=100)
    return open_rows(path, **options)


def test_predictions_do_not_depend_on_the_order_of_columns(clicks, model, tmp_path):
    rows = written(clicks[NAMES[::-1]], tmp_path)
    expected = model.decision_function(clicks[NAMES])
    np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.predict_votes(rows), model.predict_votes(clicks[NAMES]))
    assert rows.feature_names == NAMES[::-1]  # the opened file is left as it was


def test_columns_that_the_model_does_not_need_are_not_read(clicks, model, tmp_path):
    rows = written(clicks[["clicked", "e", "a", "c", "b", "d"]].assign(f=np.nan), tmp_path)
    expected = model.predict(clicks[NAMES])
    np.testing.assert_array_equal(model.predict(rows), expected)


def test_missing_columns_are_named_with_the_file(clicks, model, tmp_path):
    rows = written(clicks[NAMES].rename(columns={"b": "B", "d": "D"}), tmp_path)
    message = r"rows\.parquet lacks 'b', 'd' of the 5 columns .* it has 'B', 'D'"
    with pytest.raises(DataError, match=message):
        model.predict(rows)


def test_partial_fit_reads_columns_by_name(clicks, tmp_path):
    first, second = clicks[:300], clicks[300:]
    one = BayesianLinearSVC(**QUICK).fit(first[NAMES], first.clicked)
    other = BayesianLinearSVC(**QUICK).fit(first[NAMES], first.clicked)
    straight = written(second, tmp_path, label="clicked")
    one.partial_fit(straight, None)
    (tmp_path / "turned").mkdir()
    turned = written(second[["e", "clicked", *"dcba"]], tmp_path / "turned", label="clicked")
    other.partial_fit(turned, None)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    renamed = written(second.rename(columns={"a": "z"}), tmp_path, label="clicked")
    with pytest.raises(DataError, match="lacks 'a'"):
        one.partial_fit(renamed, None)


def test_a_model_of_a_named_file_knows_its_columns(clicks, tmp_path):
    fitted = BayesianLinearSVC(**QUICK).fit(written(clicks, tmp_path, label="clicked"))
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.posterior_.coords["feature"] == NAMES
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(clicks[NAMES[::-1]])


def test_names_are_forgotten_with_rows_that_have_none(clicks, tmp_path):
    fitted = BayesianLinearSVC(**QUICK).fit(clicks[NAMES], clicks.clicked)
    np.save(tmp_path / "x.npy", clicks[NAMES[::-1]].to_numpy())
    fitted.fit(open_rows(tmp_path / "x.npy"), clicks.clicked)
    assert not hasattr(fitted, "feature_names_in_")
    np.save(tmp_path / "narrow.npy", clicks[NAMES[:3]].to_numpy())
    with pytest.raises(DataError, match=r"narrow\.npy has 3 features, .* expecting 5 features"):
        fitted.predict(open_rows(tmp_path / "narrow.npy"))


def test_columns_of_one_name_are_refused(tmp_path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table([pyarrow.array([1.0]), pyarrow.array([2.0])], names=["a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(DataError, match="several columns named 'a'"):
        open_rows(tmp_path / "twice.parquet")


def test_a_name_that_begins_like_another_is_its_own_column(tmp_path):
    frame = pd.DataFrame({"a.x": [1.0, 2.0], "a": [3.0, 4.0]})
    rows = written(frame, tmp_path).select(["a"])
    np.testing.assert_array_equal(np.concatenate(list(rows.parts())), [[3.0], [4.0]])
