"""CSV files with more or fewer names than columns: row numbers, row names, stray separators."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest

from bayesmargin.errors import DataError
from bayesmargin.tables import ColumnPreparation, Reading, read_table
from tests.cli.conftest import make_people

FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [7, 8, 9], "sold": ["y", "n", "y"]})
READING = Reading(target="sold")


def test_row_numbers_without_a_name_are_no_feature(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv")  # pandas writes its index unless told not to
    table = read_table(tmp_path / "t.csv", READING)
    assert list(table.data) == ["a", "b"]
    assert "without a name are left out: 'Unnamed: 0'" in table.remarks[0]
    pd.read_csv(tmp_path / "t.csv").to_csv(tmp_path / "again.csv")
    assert list(read_table(tmp_path / "again.csv", READING).data) == ["a", "b"]
    asked = Reading(target="sold", identity="Unnamed: 0")
    assert read_table(tmp_path / "t.csv", asked).ids == ["0", "1", "2"]


def test_several_columns_without_a_name_are_not_called_nan(tmp_path):
    (tmp_path / "t.csv").write_text("a,,,sold\n1,2,3,y\n4,5,6,n\n")
    assert list(read_table(tmp_path / "t.csv", READING).data) == ["a"]
    (tmp_path / "t.csv").write_text("NA,null,sold\n1,2,y\n4,5,n\n")
    assert list(read_table(tmp_path / "t.csv", READING).data) == ["NA", "null"]
    (tmp_path / "t.csv").write_text("a,a,sold\n1,2,y\n4,5,n\n")
    with pytest.raises(DataError, match="several columns named 'a'"):
        read_table(tmp_path / "t.csv", READING)


@pytest.mark.parametrize("extra", [",", ",,"])
@pytest.mark.parametrize("order", [["a", "b", "sold"], ["sold", "a", "b"], ["b", "sold", "a"]])
def test_a_separator_at_the_end_of_every_row_moves_no_column(tmp_path, order, extra):
    head, *rows = FRAME[order].to_csv(index=False).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([head, *(row + extra for row in rows)]) + "\n")
    table = read_table(tmp_path / "t.csv", READING, as_text=["b"])
    assert table.data["a"].tolist() == [1.5, 2.5, 3.5]
    assert table.data["b"].tolist() == ["7", "8", "9"]
    assert table.labels.tolist() == ["y", "n", "y"]
    assert table.remarks == []


def test_fields_before_the_first_name_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,sold\nr1,1.5,7,y\nr2,2.5,8,n\n")  # as R writes them
    table = read_table(tmp_path / "t.csv", READING)
    assert table.data["a"].tolist() == [1.5, 2.5]
    assert table.labels.tolist() == ["y", "n"]
    (remark,) = table.remarks
    assert "1 field more than the first line has names" in remark
    assert "'r1'" in remark


def test_a_column_that_counts_the_rows_is_told(tmp_path):
    people = make_people(60)[["age", "job", "income"]]
    people.insert(0, "number", np.arange(1, 61))
    people.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", Reading(target="income"))
    preparation = ColumnPreparation()
    preparation.inspect(table)
    preparation.fit(table.take(np.arange(0, 60, 2)))
    (remark,) = preparation.remarks
    assert "column 'number' counts the rows" in remark
    assert "--id number" in remark
    assert "number" in preparation.feature_names
    shuffled = table.take(np.random.default_rng(0).permutation(60))
    assert ColumnPreparation().fit(shuffled).remarks == []


def test_names_and_documents_are_taken_literally(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,a,note,sold\nNA,1,null,y\n007,NA,NaN is not a number,n\n,,,y\n"
    )
    table = read_table(tmp_path / "t.csv", Reading("csv", "sold", "id", "note"))
    assert table.ids == ["NA", "007", ""]
    assert table.data == ["null", "NaN is not a number", ""]
    assert "1 document of column 'note' is empty" in table.remarks[0]
    columns = read_table(tmp_path / "t.csv", Reading("csv", "sold", "id")).data
    np.testing.assert_array_equal(columns["a"], [1.0, np.nan, np.nan])
    assert columns["note"].isna().tolist() == [True, False, True]


def test_a_class_called_none_is_told_to_be_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("a,sold\n1,None\n2,some\n")
    with pytest.raises(DataError, match=r"in 1 row \(first: row 1\).* NA, None and null .*another"):
        read_table(tmp_path / "t.csv", READING)


@pytest.mark.parametrize("name", ["t.txt.zip", "t.svm.zst", "t.npy.gz", "t.parquet.gz"])
def test_compressions_that_are_not_read_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 this is not text\n")
    with pytest.raises(DataError, match=r"unpack it"):
        read_table(tmp_path / name, labelled=False)


def test_a_pipe_is_refused_in_words(tmp_path):
    """Its first line would be gone when the rows are read."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=r"pipe is a pipe or a device, .*: save it"):
        read_table(tmp_path / "pipe", Reading(format="csv", target="y"))


def test_blanks_after_separators_are_no_part_of_a_field(tmp_path):
    (tmp_path / "t.csv").write_text('a, b, "c", sold\n1, NA, "x, y", yes\n2, True, z, no\n')
    table = read_table(tmp_path / "t.csv", READING)
    assert list(table.data) == ["a", "b", "c"]
    assert table.data["b"].isna().tolist() == [True, False]
    assert table.data["c"].tolist() == ["x, y", "z"]
    assert table.labels.tolist() == ["yes", "no"]


@pytest.mark.parametrize(("asked", "there"), [("SOLD", "sold"), ("id", "ID"), ("a", "a ")])
def test_names_that_differ_in_blanks_or_capitals_are_offered(tmp_path, asked, there):
    (tmp_path / "t.csv").write_text(f"ID,{there if there == 'a ' else 'b'},sold\n1,2,y\n")
    with pytest.raises(DataError, match=f"did you mean '{there}'"):
        read_table(tmp_path / "t.csv", Reading(target="sold", identity=asked))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", b"a,b\n\xe9,1\n", r"not UTF-8 text: .* iconv -f LATIN1 -t UTF-8 \S*t\.csv$"),
        ("my t.csv", b"a,b\n\xe9,1\n", r"iconv -f LATIN1 -t UTF-8 '\S*my t\.csv'$"),
        ("t.csv", "a,b\n".encode("utf-16"), "iconv -f UTF-16"),
        ("t.csv.gz", gzip.compress(b"a,b\n\xe9,1\n"), "unpack it, and convert it"),
        ("t.csv", gzip.compress(b"a,b\n" * 9), r"not text: .* a gzip .* end in \.csv\.gz"),
        ("t.csv", b"PK\x03\x04\x14\0\x06\0\xff\0", "not text: .* Excel workbook .* save .* as CSV"),
        ("t.csv", b"PAR1\x15\0\xff\0", r"not text: .* Parquet file; .* end in \.parquet"),
        ("t.csv", b"\x93N\0\xff\0", "not text: it holds zero bytes"),
    ],
    ids=["latin", "latin with a blank", "utf-16", "packed", "gzip", "excel", "parquet", "other"],
)
def test_files_that_are_not_text_are_told_what_they_are(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=told):
        read_table(tmp_path / name, READING)
