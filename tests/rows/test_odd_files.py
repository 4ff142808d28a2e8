"""Files as programs leave them: empty, in odd order, of odd types, in few or very many parts."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows
from bayesmargin.rows import parquet as reader

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def written(tmp_path, text):
    (tmp_path / "rows.svm").write_text(text)
    return tmp_path / "rows.svm"


def test_files_without_features_or_rows_are_refused(tmp_path):
    np.save(tmp_path / "narrow.npy", np.zeros((3, 0)))
    np.save(tmp_path / "short.npy", np.zeros((0, 3)))
    pd.DataFrame({"y": [0, 1, 0]}).to_parquet(tmp_path / "labels.parquet")
    for rows, label, what in (
        (open_rows(tmp_path / "narrow.npy"), [0, 1, 0], r"narrow\.npy holds no features"),
        (open_rows(tmp_path / "short.npy"), [], r"short\.npy holds no rows"),
        (open_rows(tmp_path / "labels.parquet", label="y"), None, "parquet holds no features"),
        (open_rows(written(tmp_path, "1\n0\n")), None, r"rows\.svm holds no features"),
    ):
        with pytest.raises(DataError, match=what):
            BayesianLinearSVC().fit(rows, label)


def test_values_whose_squares_overflow_are_named(tmp_path):
    values = np.ones((4, 2))
    values[2, 1] = 1e30
    np.save(tmp_path / "rows.npy", values)
    pd.DataFrame(values, columns=list("ab")).to_parquet(tmp_path / "rows.parquet")
    written(tmp_path, "1 1:1\n0 1:2\n0\n0 1:1 2:1e30\n")
    for name, column, row in (("npy", "1", 2), ("parquet", "'b'", 2), ("svm", "1", 3)):
        place = rf"rows\.{name}: column {column} is 1e\+30 in row {row} \(counted from 0\)"
        with pytest.raises(DataError, match=place):
            BayesianLinearSVC().fit(open_rows(tmp_path / f"rows.{name}"), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1 2:3 2:4", "line 3 has the index 2 after 2"),
        ("1 qid:1 3:3 2:4", "line 3 has the index 2 after 3"),
        ("1 1:1 4294967299:1", "line 3 has the index 4294967299, beyond 2147483647"),
    ],
)
def test_lines_with_odd_indices_are_named(tmp_path, line, told):
    with pytest.raises(ValueError, match=rf"rows\.svm: {told}"):
        open_rows(written(tmp_path, f"1 1:1\n0 1:2\n{line}\n"))


@pytest.mark.parametrize("n_features", [0, -1, "7", 2.5])
def test_a_number_of_features_is_a_number(tmp_path, n_features):
    with pytest.raises(ValueError, match=f"n_features={n_features!r} is not allowed"):
        open_rows(written(tmp_path, "1 1:1\n"), n_features=n_features)


def test_scattered_rows_of_text_are_found(tmp_path):
    text = "".join(
        f"{i} " + " ".join(f"{j}:{i}" for j in range(1, i % 4 + 1)) + "\n" for i in range(50)
    )
    rows = open_rows(written(tmp_path, text))
    dense = np.where(np.arange(3) < np.arange(50)[:, None] % 4, np.arange(50.0)[:, None], 0.0)
    for index in ([7, 3, 3, 49, 0], [0], [4, 8], slice(None)):
        np.testing.assert_array_equal(rows[index].toarray(), dense[index])


def test_pieces_of_bytes_are_as_small_as_others(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((1 << 18, 16), dtype=np.uint8))
    rows = open_rows(tmp_path / "rows.npy", memory=1 << 20)
    assert max(part.nbytes for _, part in rows.pieces()) <= 1 << 18
    assert sum(part.sum() for _, part in rows.pieces()) == 1 << 22


def test_a_large_row_group_is_not_held_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(3_000_000, dtype=np.float32) for name in "abcd"}
    parquet.write_table(pyarrow.table(columns), tmp_path / "r.parquet", row_group_size=3_000_000)
    rows, before = (
        open_rows(tmp_path / "r.parquet", memory=1 << 20),
        pyarrow.total_allocated_bytes(),
    )
    held = [pyarrow.total_allocated_bytes() - before for _ in rows.parts()]
    assert max(held) < 20e6  # of 48e6 in the group


def test_rows_of_many_row_groups_are_read_file_by_file(tmp_path, monkeypatch):
    values = np.arange(6000.0)
    for k in range(3):
        part = pyarrow.table({"x": values[2000 * k : 2000 * (k + 1)]})
        parquet.write_table(part, tmp_path / f"{k}.parquet", row_group_size=7)
    rows, asked, inner = open_rows(tmp_path), [], parquet.ParquetFile.iter_batches

    def counted(self, *args, **options):
        asked.append(len(options["row_groups"]))
        return inner(self, *args, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", counted)
    index = np.array([5999, 3, 2000, 2001, 4, 11, 3, 5000])
    np.testing.assert_array_equal(rows[index][:, 0], index)
    assert asked == [2, 1, 2]
    monkeypatch.setattr(reader, "BLOCK", 5)  # batches that end within groups
    rows.memory = 16 * 5
    np.testing.assert_array_equal(rows[:][:, 0], values)
    np.testing.assert_array_equal(rows[index][:, 0], index)


def test_an_index_in_some_files_only_is_no_disagreement(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    frame.to_parquet(tmp_path / "1.parquet", index=False)
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "2.parquet")
    rows = open_rows(tmp_path)
    assert rows.feature_names == ["a", "b"]
    np.testing.assert_array_equal(rows[:][:, 0], [1.0, 2.0, 3.0, 3.0, 1.0, 2.0])


def test_files_in_deeper_folders_are_pointed_out(tmp_path):
    (tmp_path / "year=2020").mkdir()
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "year=2020" / "1.parquet")
    with pytest.raises(ValueError, match=r"holds no \.parquet files; .*year=2020"):
        open_rows(tmp_path)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_labels_that_are_words_are_words_and_no_objects(tmp_path, kind):
    for k, words in enumerate((["no", "yes", "no"], [], ["perhaps", "no"])):
        column = pyarrow.array(words, pyarrow.string())
        column = column.dictionary_encode() if kind == "dictionary" else column.cast(kind)
        part = pyarrow.table({"a": np.zeros(len(words)), "y": column})
        parquet.write_table(part, tmp_path / f"{k}.parquet", row_group_size=2)
    labels = open_rows(tmp_path, label="y").labels
    assert labels.tolist() == ["no", "yes", "no", "perhaps", "no"]
    assert labels.dtype == "<U7"


def test_decimal_numbers_of_data_bases_are_numbers(tmp_path):
    prices = [Decimal("1.50"), Decimal("-2.25"), Decimal("0.10")]
    table = pyarrow.table({"price": prices, "sold": [Decimal(1), Decimal(0), Decimal(1)]})
    table = table.append_column("tax", table["price"].cast(pyarrow.decimal256(50, 20)))
    parquet.write_table(table, tmp_path / "t.parquet")
    rows = open_rows(tmp_path / "t.parquet", label="sold")
    np.testing.assert_array_equal(rows[:], np.float32([[1.5, 1.5], [-2.25, -2.25], [0.1, 0.1]]))
    np.testing.assert_array_equal(rows[[2, 0]], np.float32([[0.1, 0.1], [1.5, 1.5]]))
    np.testing.assert_array_equal(rows.labels, [1.0, 0.0, 1.0])
    assert rows.labels.dtype == float
    table = table.set_column(0, "price", [[*prices[:2], None]])
    parquet.write_table(table, tmp_path / "hole.parquet")
    with pytest.raises(DataError, match=r"column 'price' .* in row 2 "):
        open_rows(tmp_path / "hole.parquet", label="sold")[:]


def test_hidden_files_of_a_folder_are_not_read(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "1.parquet")
    (tmp_path / "._1.parquet").write_bytes(b"\0\5\26\7")  # as an archive of another system has them
    assert open_rows(tmp_path).shape == (2, 1)
