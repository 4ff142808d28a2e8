"""CSV files as spreadsheets of other countries write them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from bayesmargin.errors import DataError
from bayesmargin.tables import Reading, read_table

FRAME = pd.DataFrame(
    {"id": ["a", "b", "c"], "price": [1.5, -2.25, 3.0], "qty": [1, 2, 3], "sold": ["y", "n", "y"]}
)
READING = Reading(target="sold", identity="id")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_the_separator_is_found_in_the_first_line(tmp_path, separator, name):
    FRAME.to_csv(tmp_path / name, sep=separator, index=False)
    table = read_table(tmp_path / name, READING)
    assert list(table.data) == ["price", "qty"]
    assert table.data["price"].tolist() == [1.5, -2.25, 3.0]
    assert table.labels.tolist() == ["y", "n", "y"]


def test_quoted_names_bytes_before_them_and_compression(tmp_path):
    text = '\ufeff"id";"price, net";"sold"\n"a";1;"y"\n"b";2;"n"\n'
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = read_table(tmp_path / "t.csv.gz", Reading(target="sold", separator=";"))
    assert list(table.data) == ["id", "price, net"]


def test_decimal_commas_are_numbers(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    table = read_table(tmp_path / "t.csv", READING)
    np.testing.assert_array_equal(table.data["price"], FRAME["price"])
    chosen = Reading(target="sold", identity="id", categorical=("price",))
    assert read_table(tmp_path / "t.csv", chosen).data["price"].tolist() == ["1,5", "-2,25", "3,0"]


def test_what_may_be_thousands_stays_as_it_is(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;sold\n1,234;1,5;y\n5,678;;n\n")
    table = read_table(tmp_path / "t.csv", Reading(target="sold"))
    assert table.data["a"].tolist() == ["1,234", "5,678"]
    np.testing.assert_array_equal(table.data["b"], [1.5, np.nan])


def test_a_separator_that_was_given_is_used(tmp_path):
    (tmp_path / "t.csv").write_text("a;b:sold\n1;2:y\n3;4:n\n")
    table = read_table(tmp_path / "t.csv", Reading(target="sold", separator=":"))
    assert list(table.data) == ["a;b"]
    np.save(tmp_path / "t.npy", np.eye(2))
    with pytest.raises(DataError, match=r"--separator is for CSV and TSV files, and .* is npy"):
        read_table(tmp_path / "t.npy", Reading(separator=";"), labelled=False)


@pytest.mark.parametrize("value", ["0,455", "-0,455", "1234,567"])
def test_three_decimals_that_are_no_thousands(tmp_path, value):
    """A thousand has no zero before its comma, and no more than three digits."""
    (tmp_path / "t.csv").write_text(f"a;sold\n{value};y\n1,234;n\n")
    table = read_table(tmp_path / "t.csv", Reading(target="sold"))
    assert table.data["a"].tolist() == [float(value.replace(",", ".")), 1.234]


def test_columns_known_as_numbers_follow_the_other_columns(tmp_path):
    """A row to predict may have three decimals by chance."""
    (tmp_path / "t.csv").write_text("a;b;c\n1,234;8421,5;1,234\n")
    table = read_table(tmp_path / "t.csv", labelled=False, numeric={"a", "b"})
    assert table.data.iloc[0].tolist() == [1.234, 8421.5, "1,234"]
    (tmp_path / "t.csv").write_text("a;b;c\n1,234;8421;1,234\n")
    table = read_table(tmp_path / "t.csv", labelled=False, numeric={"a", "b"})
    assert table.data["a"].tolist() == ["1,234"]


def test_points_among_commas_are_told_of(tmp_path):
    text = "price;count;sold\n12,50;1.234;y\n3,75;987;n\n"
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv", Reading(target="sold"))
    (remark,) = table.remarks
    assert "'count' has decimal points where 'price' has decimal commas: 1.234 is read" in remark
    for other in (text.replace("12,50", "12.50").replace("3,75", "3.75"), text.replace(".", "")):
        (tmp_path / "t.csv").write_text(other)
        assert read_table(tmp_path / "t.csv", Reading(target="sold")).remarks == []
