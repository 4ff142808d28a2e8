"""Folders of Parquet files whose parts do not hold the same kind of column."""

import numpy as np
import pandas as pd
import pytest

from bayesmargin.errors import DataError
from bayesmargin.tables import ColumnPreparation, Reading, read_table

pytest.importorskip("pyarrow")
NUMBERS = [3, 5, 8, 5]
WORDS = ["a", "b", "a", "c"]


@pytest.fixture
def folder(tmp_path):
    def write(*parts, name="x"):
        for k, values in enumerate(parts):
            frame = pd.DataFrame({name: values, "z": np.arange(4.0), "sold": [0, 1, 1, 0]})
            if name == "sold":
                frame = frame[["sold", "z"]]
                frame["sold"] = values
            frame.to_parquet(tmp_path / f"{k}.parquet")
        return tmp_path

    return write


@pytest.mark.parametrize("values", [NUMBERS, [0.25, 1.5, 2.0, -1.0], [True, False, True, True]])
@pytest.mark.parametrize("nothing", [[None] * 4, pd.Series([None] * 4, dtype="str")])
@pytest.mark.parametrize("empty_first", [True, False])
def test_numbers_stay_numbers_where_a_part_has_none(folder, values, nothing, empty_first):
    parts = [nothing, values] if empty_first else [values, nothing]
    table = read_table(folder(*parts), Reading(target="sold"))
    prepared = ColumnPreparation(missing="median").fit(table)
    assert prepared.feature_names == ["x", "z"]
    assert prepared.columns[0].missing == 4


def test_words_stay_words_where_a_part_has_none(folder):
    table = read_table(folder(WORDS, [None] * 4), Reading(target="sold"))
    prepared = ColumnPreparation(missing="median").fit(table)
    assert prepared.feature_names == ["x=a", "x=b", "x=c", "z"]


@pytest.mark.parametrize("words", [WORDS, pd.Categorical(WORDS)])
def test_numbers_in_one_part_and_words_in_another_are_refused(folder, words):
    told = r"1\.parquet disagrees .* column 'x': it holds words there, and numbers in the files"
    path = folder(NUMBERS, words)
    with pytest.raises(DataError, match=told):
        read_table(path, Reading(target="sold"))
    assert read_table(path, Reading(target="sold", identity="x")).ids == [*NUMBERS, *WORDS]


def test_labels_of_two_kinds_are_refused(folder):
    with pytest.raises(DataError, match="column 'sold': it holds words there, and numbers"):
        read_table(folder([0, 1, 1, 0], ["n", "y", "y", "n"], name="sold"), Reading(target="sold"))


def test_whole_numbers_and_fractions_are_both_numbers(folder):
    table = read_table(folder(NUMBERS, [0.5, 1.5, 2.0, 3.0]), Reading(target="sold"))
    assert table.data["x"].tolist() == [*NUMBERS, 0.5, 1.5, 2.0, 3.0]


def test_an_index_without_any_value_is_no_column(tmp_path):
    index = pd.Index([None] * 4, name="nothing", dtype="str")
    frame = pd.DataFrame({"x": NUMBERS, "sold": [0, 1, 1, 0]}, index=index)
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet", Reading(target="sold")).data) == ["x"]


def test_columns_of_one_name_are_refused(tmp_path):
    import pyarrow
    import pyarrow.parquet

    arrays = [pyarrow.array(values) for values in (NUMBERS, NUMBERS, WORDS)]
    table = pyarrow.table(arrays, names=["x", "x", "kind"])
    pyarrow.parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(DataError, match=r"twice\.parquet has several columns named 'x': rename"):
        read_table(tmp_path / "twice.parquet", Reading(target="kind"))
