"""A value that no model can use is refused with its file, its column and its row."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MEMORY = 1 << 20


def folder_with(tmp_path, value):
    """Two files of 400,000 rows; ``value`` is in row 350,007 of the second."""
    rng = np.random.default_rng(0)
    for name in "pq":
        columns = {c: rng.standard_normal(400_000) for c in "ab"}
        valid = np.ones(400_000, dtype=bool)
        if name == "q":
            valid[350_007] = value is not None
            columns["b"][350_007] = 0.0 if value is None else value
        table = {
            "a": columns["a"],
            "b": pyarrow.array(columns["b"], mask=~valid),
            "y": columns["a"] > 0.0,
        }
        parquet.write_table(
            pyarrow.table(table), tmp_path / f"{name}.parquet", row_group_size=40_000
        )
    return open_rows(tmp_path, label="y", memory=MEMORY)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "has no value"),
        (np.nan, "is NaN"),
        (-np.inf, r"is infinite \(-inf\)"),
        (1e300, r"is 1e\+300, too large for the single precision"),
    ],
)
def test_a_parquet_value_is_named(tmp_path, value, told):
    rows = folder_with(tmp_path, value)
    message = rf"q\.parquet: column 'b' {told}.* in row 350007 \(counted from 0\)"
    with pytest.raises(DataError, match=message):
        list(rows.parts())
    with pytest.raises(DataError, match=message):
        rows[np.array([750_007, 3])]
    np.testing.assert_array_equal(rows[np.array([3])].shape, (1, 2))
    with pytest.raises(DataError, match=message):
        BayesianLinearSVC(n_draws=50, random_state=0).fit(rows)


def test_a_label_that_is_no_number_is_named(tmp_path):
    table = pyarrow.table({"a": [1.0, 2.0, 3.0], "y": [0.0, np.nan, 1.0]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"label column 'y' is nan in row 1 \(counted from 0\)"):
        open_rows(tmp_path / "t.parquet", label="y")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_of_an_npy_file_is_named(tmp_path, value):
    values = np.random.default_rng(0).standard_normal((60_000, 3))
    values[50_001, 2] = value
    np.save(tmp_path / "x.npy", values)
    rows = open_rows(tmp_path / "x.npy", memory=MEMORY)
    message = r"x\.npy: column 2 is .* in row 50001 \(both counted from 0\)"
    with pytest.raises(DataError, match=message):
        list(rows.parts())
    with pytest.raises(DataError, match=message):
        rows[np.array([4, 50_001])]


@pytest.mark.parametrize(
    ("line", "told"),
    [("1 1:2 3:nan", "has the value nan"), ("1 2:inf", "has the value inf"),
     ("1 2:1e300", r"has the value 1e\+300"), ("nan 1:2", "has the label nan")],
)  # fmt: skip
def test_a_value_of_a_svmlight_file_is_named(tmp_path, line, told):
    (tmp_path / "x.svm").write_text(f"# two lines before it\n-1 1:2.5\n{line}\n")
    with pytest.raises(DataError, match=rf"x\.svm: line 3 {told}"):
        open_rows(tmp_path / "x.svm")


def test_large_values_whose_sum_overflows_are_fine(tmp_path):
    values = np.full((1000, 2), 3e38, dtype=np.float32)
    np.save(tmp_path / "x.npy", values)
    parquet.write_table(pyarrow.table({"a": values[:, 0]}), tmp_path / "x.parquet")
    for name in ("x.npy", "x.parquet"):
        (part,) = open_rows(tmp_path / name).parts()
        assert part.shape[0] == 1000
