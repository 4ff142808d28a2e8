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
