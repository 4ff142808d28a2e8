"""Rows of files chosen as rows of arrays are, by users and by scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from bayesmargin import BayesianLinearSVC, InfiniteSVC
from bayesmargin.rows import open_rows

pytest.importorskip("pyarrow.parquet")

N_ROWS = 120
KINDS = ("npy", "svm", "parquet")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, 3)).astype(np.float32)
    return X, (X[:, 0] + 0.3 * rng.normal(size=N_ROWS) > 0.0).astype(int)


@pytest.fixture(params=KINDS)
def rows(request, table, tmp_path):
    X, y = table
    path = tmp_path / f"t.{request.param}"
    if request.param == "npy":
        np.save(path, X)
        return open_rows(path, labels=y)
    if request.param == "svm":
        dump_svmlight_file(X, y, str(path), zero_based=False)
        return open_rows(path)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(path, row_group_size=50)
    return open_rows(path, label="y")


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize(
    "chosen",
    [
        np.array([5, 0, 118, 5]),
        [3, -1, -N_ROWS],
        slice(None, 7),
        slice(None, None, -1),
        np.arange(N_ROWS) % 3 == 1,
        [],
        (np.array([2, 1]), Ellipsis),
    ],
    ids=["numbers", "negative", "slice", "backwards", "mask", "none", "ellipsis"],
)
def test_rows_are_those_of_the_matrix(rows, table, chosen):
    plain = chosen[0] if isinstance(chosen, tuple) else chosen
    expected = table[0][np.array(plain, dtype=int) if isinstance(plain, list) else plain]
    np.testing.assert_allclose(dense(rows[chosen]), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("chosen", "kind", "told"),
    [
        ([1, N_ROWS], IndexError, f"there is no row {N_ROWS}: there are {N_ROWS} rows"),
        ([-N_ROWS - 1], IndexError, "there is no row -121"),
        (np.ones(3, dtype=bool), IndexError, f"the mask has 3 values, but there are {N_ROWS} rows"),
        (3, TypeError, r"for one row write rows\[\[3\]\]"),
        (["a"], TypeError, r"takes an array of row numbers, .* and not \['a'\]"),
        ((slice(None), [0]), TypeError, r"rows\.select"),
    ],
)
def test_what_means_no_rows_is_refused(rows, chosen, kind, told):
    with pytest.raises(kind, match=told):
        rows[chosen]


def test_folds_and_grids_take_rows_of_files(rows, table):
    X, y = table
    model = BayesianLinearSVC(n_draws=50, n_chains=2, random_state=0)
    found = cross_val_score(model, rows, y, cv=3)
    np.testing.assert_allclose(found, cross_val_score(model, X, y, cv=3), atol=0.03)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(rows, rows.labels)
    assert (search.predict(rows) == y).mean() > 0.8
    parts = train_test_split(rows, y, test_size=20, random_state=0)
    assert [len(part) if k > 1 else part.shape for k, part in enumerate(parts)] == [
        (100, 3), (20, 3), 100, 20,
    ]  # fmt: skip


def test_other_models_are_told_how_to_get_the_matrix(rows, table):
    assert len(rows) == N_ROWS
    with pytest.raises(TypeError, match=r"rows\[:\] is the matrix of all"):
        InfiniteSVC().fit(rows, table[1])
    with pytest.raises(TypeError, match=r"not read one by one"):
        list(rows)
