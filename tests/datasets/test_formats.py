"""Every reader on good lines, and on each kind of bad line with the place it must name."""

import re

import numpy as np
import pytest

from bayesmargin.datasets import DataFormatError
from bayesmargin.datasets.formats import (
    count_matrix,
    lines,
    read_gml,
    read_numbers,
    read_svmlight,
    read_table,
    to_csr,
)


@pytest.mark.parametrize("suffix", ["svm", "svm.xz", "svm.bz2", "svm.gz"])
def test_svmlight_reads_every_compression(write, suffix):
    path = write(f"set/file.{suffix}", "+1 1:0.5 3:-2\n-1.0 2:1e-3 # a remark\n\n-1\n")
    arrays = read_svmlight(path, 4, (-1, 1))
    matrix = to_csr(arrays)
    assert matrix.toarray().tolist() == [[0.5, 0, -2, 0], [0, 1e-3, 0, 0], [0, 0, 0, 0]]
    assert arrays["target"].tolist() == [1, -1, -1]
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("+2 1:1", "label '+2' is not one of [-1, 1]"),
        ("yes 1:1", "label 'yes' is not a number"),
        ("+1 1:1 5:1", "index 5 is not between 2 and 4"),
        ("+1 0:1", "index 0 is not between 1 and 4"),
        ("+1 3:1 2:1", "index 2 is not between 4 and 4"),
        ("+1 2:1 2:1", "index 2 is not between 3 and 4"),
        ("+1 2:abc", "'2:abc' is not index:value"),
        ("+1 2", "'2' is not index:value"),
        ("+1 2:nan", "'2:nan' is not index:value with a finite value"),
    ],
)
def test_svmlight_names_the_bad_line(write, line, problem):
    path = write("set/file.svm.xz", f"+1 1:1\n-1 2:1\n{line}\n-1 1:1\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 3: {problem}")):
        read_svmlight(path, 4, (-1, 1))


def test_gml_single_label(write):
    arrays = read_gml(write("a.gml.xz", "2\n3 1 4 0 4\n1 0 2\n"), 2, multi_label=False)
    counts = count_matrix(arrays, 5)
    assert counts.toarray().tolist() == [[1, 0, 0, 0, 2], [0, 0, 1, 0, 0]]
    assert counts.nnz == 3, "a word that occurs twice is one entry"
    assert arrays["target"].tolist() == [1, 0]


def test_gml_multi_label_and_an_empty_document(write):
    arrays = read_gml(write("a.gml", "2\n2 2 0 2 7 7 \n0 1 1 \n"), 3, multi_label=True)
    assert arrays["words"].tolist() == [7, 7]
    assert count_matrix(arrays, 8).toarray().tolist() == [[0] * 7 + [2], [0] * 8]
    assert arrays["target"].tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("3 1 0 5 5", "3 tokens announced, 2 given"),
        ("2 3 0 1", "3 labels announced, 2 given"),
        ("2 0 5 5", "0 labels announced, 0 given"),
        ("1 1 3 5", "label 3 is not in 0..2"),
        ("1 1 0 -5", "word id -5 is negative"),
        ("1 1 0 x", "invalid literal"),
        ("1", "fewer than two numbers"),
    ],
)
def test_gml_names_the_bad_line(write, line, problem):
    path = write("a.gml.xz", f"2\n1 1 0 5\n{line}\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 3: {problem}")):
        read_gml(path, 3, multi_label=True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("3\n1 0 5\n", "announces 3 documents, there are 1"),
        ("word\n", "line 1: 'word' is not the number of documents"),
        ("", "line 1: '' is not the number of documents"),
    ],
)
def test_gml_checks_the_number_of_documents(write, text, problem):
    with pytest.raises(DataFormatError, match=re.escape(problem)):
        read_gml(write("a.gml", text), 2, multi_label=False)


def test_table_names_the_bad_line(write):
    assert read_table(write("a.tsv.xz", "x\ty\nz\t\n"), 2) == [["x", "y"], ["z", ""]]
    path = write("a.tsv.xz", "x\ty\nz\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 2: 1 columns")):
        read_table(path, 2)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
@pytest.mark.parametrize("first", ["a,b\n", ""])
def test_numbers_in_blocks_with_and_without_header(write, block, first):
    path = write("a.csv.gz", f"{first}1,2.5\n-3,4e2\n5,6\n")
    table = read_numbers(path, ["a", "b"], block)["table"]
    assert table.tolist() == [[1, 2.5], [-3, 400], [5, 6]]


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1", "1 columns separated by commas, 2 expected"),
        ("1,2,3", "3 columns separated by commas, 2 expected"),
        ("1,x", "'x' is not a finite number"),
        ("1,nan", "'nan' is not a finite number"),
        ("1,", "'' is not a finite number"),
    ],
)
def test_numbers_name_the_bad_line(write, block, line, problem):
    path = write("a.csv.xz", f"a,b\n1,2\n3,4\n{line}\n5,6\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 4: {problem}")):
        read_numbers(path, ["a", "b"], block)


@pytest.mark.parametrize("suffix", ["xz", "bz2", "gz"])
@pytest.mark.parametrize("damage", ["cut", "not compressed"])
def test_a_damaged_file_is_said_to_be_damaged(write, suffix, damage):
    path = write(f"a.{suffix}", "".join(f"{i} {i * i}\n" for i in range(5000)))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"plain text\n" * 10)
    with pytest.raises(DataFormatError, match=re.escape(str(path)) + ".*damaged or cut short"):
        list(lines(path))


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(lines(tmp_path / "none.bz2"))


def test_text_that_is_not_utf8_names_the_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n\xff\xfe\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 2: not UTF-8")):
        list(lines(path))
