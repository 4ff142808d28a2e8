"""Opening files: what is said of them, and labels that lie in them or beside them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows

pytest.importorskip("pyarrow.parquet")

QUICK = {"n_draws": 50, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc")).astype(np.float32)
    return frame.assign(y=np.where(frame.a + 0.3 * rng.normal(size=300) > 0.0, "yes", "no"))


@pytest.fixture
def filed(table, tmp_path):
    table.to_parquet(tmp_path / "t.parquet", index=False)
    table.drop(columns="y").to_parquet(tmp_path / "plain.parquet", index=False)
    np.save(tmp_path / "t.npy", table[list("abc")].to_numpy())
    return tmp_path


def test_labels_of_the_file_serve_score_and_partial_fit(filed, table):
    rows = open_rows(filed / "t.parquet", label="y")
    model = BayesianLinearSVC(**QUICK).partial_fit(rows, classes=["no", "yes"])
    given = BayesianLinearSVC(**QUICK).partial_fit(rows, table.y, classes=["no", "yes"])
    np.testing.assert_array_equal(model.coef_, given.coef_)
    assert model.score(rows) == model.score(table[list("abc")], table.y) > 0.8
    with pytest.raises(DataError, match=r"plain\.parquet holds no labels"):
        model.score(open_rows(filed / "plain.parquet"))
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.partial_fit(table[list("abc")])


def test_the_representation_is_brief(filed):
    shown = repr(open_rows(filed / "t.parquet", label="y"))
    path = str(filed / "t.parquet")
    assert shown == f"ParquetRows({path!r}, shape=(300, 3), columns=['a', 'b', 'c'], with labels)"
    shown = repr(open_rows(filed / "t.npy"))
    assert shown == f"NpyRows({str(filed / 't.npy')!r}, shape=(300, 3), without labels)"
    pd.DataFrame(np.eye(40)).rename(columns=str).to_parquet(filed / "wide.parquet")
    assert "'5', ...]" in repr(open_rows(filed / "wide.parquet"))


def test_labels_beside_a_file_must_be_as_many_as_its_rows(filed, table):
    with pytest.raises(DataError, match=r"shape \(5,\), but .*t\.npy has 300 rows"):
        open_rows(filed / "t.npy", labels=table.y[:5])
    with pytest.raises(DataError, match=r"shape \(300, 1\), but .*t\.npy has 300 rows"):
        open_rows(filed / "t.npy", labels=np.zeros((300, 1)))
    rows = open_rows(filed / "plain.parquet", labels=table.y)
    np.testing.assert_array_equal(rows.labels, table.y)
    with pytest.raises(ValueError, match="pass one"):
        open_rows(filed / "t.parquet", label="y", labels=table.y)


@pytest.mark.parametrize("memory", ["1GB", None, True, float("nan"), float("inf"), 5])
def test_memory_is_a_number_of_bytes(filed, memory):
    with pytest.raises(ValueError, match=f"memory={memory!r} is not allowed: it is a number"):
        open_rows(filed / "t.npy", memory=memory)
    assert open_rows(filed / "t.npy", memory=2e6).memory == 2_000_000


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.tsv.gz"])
def test_csv_goes_elsewhere(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n")
    for label in (None, "b"):
        with pytest.raises(ValueError, match=r"pandas\.read_csv.* command line"):
            open_rows(tmp_path / name, label=label)


def test_a_narrow_svmlight_file_is_told_how_to_be_wider(tmp_path, filed, table):
    model = BayesianLinearSVC(**QUICK).fit(open_rows(filed / "t.npy"), table.y)
    (tmp_path / "narrow.svm").write_text("1 1:2.0\n-1 2:1.0\n")
    with pytest.raises(DataError, match=r"narrow\.svm has 2 features, .*n_features=3"):
        model.predict(open_rows(tmp_path / "narrow.svm"))
    assert len(model.predict(open_rows(tmp_path / "narrow.svm", n_features=3))) == 2


@pytest.mark.parametrize("index", [None, "person"])
def test_the_index_of_a_data_frame_is_no_feature(table, tmp_path, index):
    """pandas writes it whenever rows were chosen before: it would tell their place in the table."""
    table[table.b > 0.0].rename_axis(index).to_parquet(tmp_path / "some.parquet")
    rows = open_rows(tmp_path / "some.parquet", label="y")
    assert rows.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(rows[:5], table[table.b > 0.0][["a", "b", "c"]].head())


def test_endings_in_capitals_mean_the_same(filed, table, tmp_path):
    packed = tmp_path / "ROWS.SVM.GZ"
    with gzip.open(packed, "wt") as file:
        file.write("1 1:2.0\n-1 2:1.0\n")
    assert open_rows(packed).shape == (2, 2)
    (filed / "t.parquet").rename(filed / "T.PARQUET")
    (filed / "t.npy").rename(filed / "T.NPY")
    assert open_rows(filed / "T.PARQUET", label="y").shape == open_rows(filed / "T.NPY").shape
