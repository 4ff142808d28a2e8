"""Whole numbers of 64 bits and more: pandas leaves some of them as they are written."""

import numpy as np
import pandas as pd
import pytest

from bayesmargin.errors import DataError
from bayesmargin.tables import ColumnPreparation, Reading, Table, read_table
from bayesmargin.tables.table import clean_labels

READING = Reading(target="sold")


def read(tmp_path, cells, reading=READING):
    lines = [f"{cell},{k % 2}\n" for k, cell in enumerate(cells)]
    (tmp_path / "t.csv").write_text("".join(["x,sold\n", *lines]))
    return read_table(tmp_path / "t.csv", reading)


@pytest.mark.parametrize(
    "cells",
    [
        ["18446744073709551615", "", "3"],  # 64 bits beside a missing value
        ["NA", "9223372036854775808", "null"],
        ["18446744073709551615", "-7", "5"],  # beside a negative number
        ["18446744073709551616", "5", ""],  # 65 bits
        ["-1" + "0" * 30, " 5", "+6"],
    ],
)
def test_numbers_beyond_64_bits_are_numbers(tmp_path, cells):
    found = read(tmp_path, cells).data["x"].to_numpy(dtype=float)
    missing = ("", "NA", "null")
    np.testing.assert_array_equal(found, [np.nan if c in missing else float(c) for c in cells])


def test_numbers_that_no_double_holds_are_refused(tmp_path):
    known = ColumnPreparation().fit(read(tmp_path, ["1", "2", "3"]))
    table = read(tmp_path, ["1" + "0" * 400, "2"])
    with pytest.raises(DataError, match=r"'x' .* holds inf in row 1"):
        known.transform(table)
    with pytest.raises(DataError, match="column 'x' has 1 infinite value"):
        ColumnPreparation().fit(table)


def test_words_among_long_numbers_stay_words(tmp_path):
    cells = ["18446744073709551616", "n/d", "5_0"]
    assert read(tmp_path, cells).data["x"].tolist() == cells
    as_names = Reading(target="sold", identity="x", drop=())
    (tmp_path / "t.csv").write_text("x,a,sold\n18446744073709551617,1,y\n,2,n\n")
    assert read_table(tmp_path / "t.csv", as_names).ids == ["18446744073709551617", ""]


def test_long_labels_keep_all_their_digits(tmp_path):
    cells = ["18446744073709551615", "18446744073709551614", "-1"]
    (tmp_path / "t.csv").write_text("sold,x\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read_table(tmp_path / "t.csv", READING).labels.tolist() == cells
    (tmp_path / "t.csv").write_text("sold,x\n18446744073709551615,1\n,2\n")
    with pytest.raises(DataError, match=r"'sold' .* has no value in 1 row \(first: row 2\)"):
        read_table(tmp_path / "t.csv", READING)
    unsigned = np.array([2**64 - 1, 2**63, 3], dtype=np.uint64)
    assert clean_labels(unsigned, "y").tolist() == ["18446744073709551615", str(2**63), "3"]
    assert clean_labels(unsigned[2:], "y").tolist() == [3]


def test_a_parquet_column_without_any_value_is_left_out(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "empty": [None] * 3, "sold": [0, 1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", READING)
    with pytest.raises(DataError, match=r"'empty' 3 \(all: --drop empty\)"):
        ColumnPreparation().fit(table)
    prepared = ColumnPreparation(missing="median").fit(table)
    assert prepared.feature_names == ["x"]


@pytest.mark.parametrize(("first", "then"), [("7", "7.0"), ("7.0", "7")])
def test_codes_beside_missing_values_are_the_same_codes(first, then):
    """A column of whole numbers with holes is written with decimal points by pandas."""
    codes = pd.DataFrame({"floor": [first, "B", first, "C"]})
    known = ColumnPreparation(missing="median").fit(Table("columns", codes))
    remarks: list[str] = []
    new = Table("columns", pd.DataFrame({"floor": [then, "B", "70", None]}))
    found = known.transform(new, remarks)
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert remarks == [
        "1 row with categories of 'floor' that training did not see ('70'): counted as none"
    ]
