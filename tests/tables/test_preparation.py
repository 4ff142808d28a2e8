"""Columns, matrices and documents become numbers, and the same numbers after JSON."""

import json
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.tables import (
    ColumnPreparation,
    MatrixPreparation,
    Preparation,
    Reading,
    Table,
    TextPreparation,
    read_table,
)


def columns(**values):
    return Table("columns", pd.DataFrame(values), source="table.csv")


def again(preparation):
    """The preparation after a journey through JSON."""
    return Preparation.from_json(json.loads(json.dumps(preparation.to_json())))


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.sampled_from(["a", "b", "ü", "=", ""]), st.booleans()),
        min_size=3,
        max_size=30,
    )
)
@settings(deadline=None, max_examples=60)
def test_json_changes_nothing(rows):
    numbers, words, truth = zip(*rows, strict=True)
    table = columns(number=numbers, word=words, truth=truth)
    try:
        made = ColumnPreparation(missing="median").fit(table)
    except DataError:
        return  # all columns constant
    first = dense(made.transform(table))
    np.testing.assert_array_equal(dense(again(made).transform(table)), first)
    assert again(made).feature_names == made.feature_names
    assert first.shape == (len(rows), len(made.feature_names))
    assert np.isfinite(first).all()


def test_numbers_are_standardised_and_indicators_left_alone():
    table = columns(size=[1.0, 2.0, 6.0], flag=[0, 1, 1], yes=[True, False, True])
    matrix = ColumnPreparation().fit(table).transform(table)
    np.testing.assert_allclose(matrix[:, 0].mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(matrix[:, 0].std(), 1.0)
    np.testing.assert_array_equal(matrix[:, 1:], [[0, 1], [1, 0], [1, 1]])
    plain = ColumnPreparation(scale=False).fit(table).transform(table)
    np.testing.assert_array_equal(plain[:, 0], [1, 2, 6])


def test_truth_with_holes_and_codes_with_holes():
    table = columns(ok=[True, None, False, True], zone=[1.0, np.nan, 2.0, 1.0])
    made = ColumnPreparation(missing="median", categorical=["zone"]).fit(table)
    assert made.feature_names == ["ok", "zone=1", "zone=2"]
    np.testing.assert_array_equal(
        made.transform(table), [[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0]]
    )


def test_many_levels_are_sparse_and_equal_to_dense():
    rng = np.random.default_rng(0)
    table = columns(city=[f"c{i % 300}" for i in range(2000)], size=rng.random(2000))
    made = ColumnPreparation().fit(table)
    matrix = made.transform(table)
    assert sparse.issparse(matrix)
    assert matrix.shape == (2000, 301)
    assert matrix.nnz == 4000
    names = np.array(made.feature_names)
    row = matrix[[7]].toarray()[0]
    assert row[names == f"city={table.data['city'][7]}"] == 1.0


def test_unknown_levels_missing_columns_and_wrong_kinds():
    table = columns(colour=["red", "blue", "red"], size=[1.0, 2.0, 4.0])
    made = ColumnPreparation().fit(table)
    remarks = []
    matrix = made.transform(columns(colour=["green", "red"], size=[1.0, 2.0]), remarks)
    np.testing.assert_array_equal(matrix[:, :2], [[0, 0], [0, 1]])
    assert "'green'" in remarks[0]
    with pytest.raises(DataError, match="lacks columns that the model needs: 'size'"):
        made.transform(columns(colour=["red"]))
    with pytest.raises(DataError, match="has missing values: 'size' 1"):
        made.transform(columns(colour=["red"], size=[None]))
    with pytest.raises(DataError, match="holds lists"):
        ColumnPreparation().fit(columns(x=[[1], [2]]))
    with pytest.raises(DataError, match=r"every column of table\.csv is constant"):
        ColumnPreparation().fit(columns(x=[1, 1]))


@pytest.mark.parametrize("form", ["%Y/%m/%d", "%m/%d/%y", "%d-%b-%Y", "%d-%m-%Y", "%B %d, %Y"])
def test_dates_however_written_are_refused_unless_they_are_categories(form):
    days = pd.date_range("2024-01-01", periods=40).strftime(form).repeat(3)
    with pytest.raises(DataError, match=r"holds dates such as .* or pass --categorical day"):
        ColumnPreparation().fit(columns(day=days, size=np.arange(120.0)))
    learned = ColumnPreparation(categorical=["day"]).fit(
        columns(day=days, size=np.arange(120.0) ** 2)
    )
    assert len(learned.feature_names) == 41


@pytest.mark.parametrize(
    "words", [["may", "june"], ["1/2", "3/4"], ["10.1", "10.2"], ["4-door", "2-door"]]
)
def test_words_like_dates_are_categories(words):
    learned = ColumnPreparation().fit(columns(kind=words * 20, size=np.arange(40.0) ** 2))
    assert len(learned.feature_names) == 3


def test_columns_without_values_are_named():
    table = columns(size=[1.0, 2.0, 3.0], void=[np.nan] * 3)
    with pytest.raises(DataError, match=r"'void' 3 \(all: --drop void\)"):
        ColumnPreparation().fit(table)
    with pytest.raises(DataError, match=r"so none is left: 'void' 3 \(all: --drop void\)"):
        ColumnPreparation(missing="drop").fit(table)


def test_values_filled_into_new_rows_are_told_of():
    known = columns(size=[1.0, 2.0, np.nan], kind=["a", "b", "a"])
    learned = ColumnPreparation(missing="median").fit(known)
    new = columns(size=[np.nan, np.nan], kind=["a", None], other=[np.nan, 1.0])
    assert learned.gaps(new) == ["missing values filled in: 'size' 2 (all), 'kind' 1"]
    assert learned.gaps(known.take([0, 1])) == []
    refusing = ColumnPreparation().fit(known.take([0, 1]))
    assert refusing.gaps(new) == []


def test_dates_of_every_kind_are_refused():
    days = pd.date_range("2024-01-01", periods=3)
    for values in (days, days.date, days.astype(str), ["1.2.2024", "12.3.2024", "9.9.2024"]):
        with pytest.raises(DataError, match="holds dates such as"):
            ColumnPreparation().fit(columns(day=values, x=[1, 2, 3]))


def test_matrices():
    rows = Table("matrix", np.array([[1.0, 5.0], [3.0, 5.0]]), source="rows.npy")
    made = MatrixPreparation().fit(rows)
    assert "1 constant columns" in made.remarks[0]
    np.testing.assert_array_equal(again(made).transform(rows), [[-1, 0], [1, 0]])
    with pytest.raises(DataError, match="has 1 columns, but the model was fitted on 2"):
        made.transform(Table("matrix", np.ones((2, 1)), source="rows.npy"))
    with pytest.raises(DataError, match="1 missing or infinite values"):
        made.transform(Table("matrix", np.array([[np.nan, 1.0]]), source="rows.npy"))


def test_rarity_weights_agree_with_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["red red roses", "red tulips", "blue tulips and roses", ""]
    pages = Table("text", texts, source="pages.txt")
    made = TextPreparation("tfidf", min_df=1, max_df=1.0, stop_words=None).fit(pages)
    theirs = TfidfVectorizer(sublinear_tf=True, token_pattern=made.settings["token_pattern"])
    np.testing.assert_allclose(
        again(made).transform(pages).toarray(), theirs.fit_transform(texts).toarray()
    )
    assert made.remarks == ["1 document without a known word"]


def test_documents_without_a_vocabulary_and_unknown_settings():
    with pytest.raises(DataError, match="no vocabulary could be made"):
        TextPreparation().fit(Table("text", ["the", "and"], source="pages.txt"))
    with pytest.raises(DataError, match="not a setting of the vectorizer"):
        TextPreparation(tokenizer="x")
    with pytest.raises(DataError, match="unknown kind 'magic'"):
        Preparation.from_json({"kind": "magic"})
    with pytest.raises(DataError, match="is damaged"):
        Preparation.from_json({"kind": "matrix"})


def test_latin_text_and_odd_line_ends_are_read(tmp_path):
    from bayesmargin.tables import Reading, read_table

    (tmp_path / "old.txt").write_bytes(b"a\tgr\xfcn\x85zwei\r\nb\tblau\r\n")
    table = read_table(tmp_path / "old.txt", Reading(label_first=True))
    assert table.data == ["grün\x85zwei", "blau"]
    assert table.labels.tolist() == ["a", "b"]


def test_codes_with_leading_zeros_stay_the_same_in_new_files(tmp_path):
    from bayesmargin.tables import Reading, read_table

    (tmp_path / "a.csv").write_text("zip,y\n007,1\nA12,0\n007,1\n")
    (tmp_path / "b.csv").write_text("zip\n007\n")
    made = ColumnPreparation().fit(read_table(tmp_path / "a.csv", Reading(target="y")))
    new = read_table(tmp_path / "b.csv", labelled=False, as_text=made.text_columns)
    np.testing.assert_array_equal(made.transform(new), [[1, 0]])


def test_words_that_strayed_among_numbers_are_refused_with_their_row():
    ages = [*map(str, range(40)), "?", "?", "unknown"]
    told = r"'age' of table.csv holds numbers, but '\?', 'unknown' in 3 rows \(first: row 41\)"
    with pytest.raises(DataError, match=told):
        ColumnPreparation().inspect(columns(age=ages))
    ColumnPreparation(categorical=("age",)).inspect(columns(age=ages))
    ColumnPreparation().inspect(columns(code=[*map(str, range(20)), "A1", "A2", "A3", "A4"]))
    ColumnPreparation().inspect(columns(size=["1", "2", "3", "large"] * 10))


def test_numbers_too_large_to_compute_with_are_refused():
    with pytest.raises(DataError, match=r"column 'a' holds -1e\+300: values beyond 1e\+100"):
        ColumnPreparation().fit(columns(a=[1.0, -1e300, 3.0]))


def test_the_index_of_a_parquet_file_names_rows_when_asked(tmp_path):
    pytest.importorskip("pyarrow.parquet")
    table = pd.DataFrame({"who": ["u", "v", "w"], "a": [1, 2, 3], "y": [0, 1, 0]})
    table.set_index("who").to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", Reading(target="y", identity="who")).ids == [*"uvw"]
    assert list(read_table(tmp_path / "t.parquet", Reading(target="y")).data) == ["a"]


@pytest.mark.parametrize(
    "written",
    [
        "${:,.2f}", "{:,}", "{:.0f}%", "{:.0f} %", "€{}", "{:.2f} EUR", "CHF {:,.2f}", "({:,.2f})",
        "-${:,}", "{:_}'000",
    ],
)  # fmt: skip
def test_numbers_in_a_dress_are_no_categories(written):
    amounts = [written.format(amount).replace("_", "'") for amount in range(900, 1020, 3)] * 2
    with pytest.raises(DataError, match=r"column 'amount' of table\.csv .* written as .*: write"):
        ColumnPreparation().fit(columns(amount=amounts, other=range(80)))
    kept = ColumnPreparation(categorical=["amount"]).fit(columns(amount=amounts))
    assert kept.columns[0].kind == "category"


def test_numbers_with_commas_of_another_country_are_no_categories(tmp_path):
    prices = [f"1.{k:03},{k:02}" for k in range(30)] * 2
    frame = pd.DataFrame({"price": prices, "size": range(60), "sold": ["y", "n"] * 30})
    frame.to_csv(tmp_path / "t.csv", sep=";", index=False)
    table = read_table(tmp_path / "t.csv", Reading(target="sold"))
    with pytest.raises(DataError, match=r"column 'price' .* written as '1.000,00'.*: write"):
        ColumnPreparation().fit(table)


def test_numbers_as_text_are_categories_and_told():
    codes = [f"{k:03}" for k in range(25)] * 2
    (remark,) = ColumnPreparation().fit(columns(code=codes)).remarks
    assert "column 'code' holds numbers as text" in remark
    assert ColumnPreparation(categorical=["code"]).fit(columns(code=codes)).remarks == []


def test_words_with_numbers_in_them_stay_categories():
    codes = [f"A{k}" for k in range(30)] + [f"{k}-{k + 5}" for k in range(30)]
    assert ColumnPreparation().fit(columns(code=codes * 2)).columns[0].kind == "category"


def test_decimal_numbers_of_parquet_files_are_numbers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    exact = [Decimal("1.50"), None, Decimal("-2.25")]
    names = [Decimal(10**20 + k) for k in range(3)]
    sold = [Decimal(1), Decimal(0), Decimal(1)]
    table = pyarrow.table({"price": exact, "name": names, "code": exact, "sold": sold})
    parquet.write_table(table, tmp_path / "t.parquet")
    reading = Reading(target="sold", identity="name", categorical=("code",))
    read = read_table(tmp_path / "t.parquet", reading)
    np.testing.assert_array_equal(read.data["price"], [1.5, np.nan, -2.25])
    assert read.labels.tolist() == [1, 0, 1]
    assert read.ids == names
    assert read.data["code"].tolist() == exact
    made = ColumnPreparation(missing="median", categorical=["code"]).fit(read)
    assert [column.kind for column in made.columns] == ["number", "category"]


def test_whole_numbers_that_name_rows_keep_their_digits_beside_missing_ones(tmp_path):
    pytest.importorskip("pyarrow")
    names = [2**53 + 1, None, 2**53 + 3]
    frame = pd.DataFrame({"key": pd.array(names, dtype="Int64"), "x": [1, 2, 3]})
    frame["floor"] = pd.array([7, None, 10], dtype="Int64")
    frame["flats"] = frame["floor"]
    frame.to_parquet(tmp_path / "t.parquet")
    read = read_table(
        tmp_path / "t.parquet", Reading(identity="key", categorical=("floor",)), labelled=False
    )
    assert read.ids == names
    assert read.data["floor"].tolist() == [7, None, 10]
    np.testing.assert_array_equal(read.data["flats"], [7.0, np.nan, 10.0])
    made = ColumnPreparation(missing="median", categorical=["floor"]).fit(read)
    assert made.feature_names[1:3] == ["floor=10", "floor=7"]


def test_labels_too_large_to_be_told_apart_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,1e20\n2,2e20\n")
    with pytest.raises(DataError, match=r"'label' .* holds 2e\+20.*as words"):
        read_table(tmp_path / "t.csv", Reading(target="label"))


def test_documents_in_utf_16_are_read(tmp_path):
    (tmp_path / "t.txt").write_text("rose\tred flower\niris\tblue flower\n", encoding="utf-16")
    table = read_table(tmp_path / "t.txt", Reading(label_first=True))
    assert table.data == ["red flower", "blue flower"]
    assert table.labels.tolist() == ["rose", "iris"]


def test_long_blanks_in_words_cost_no_time():
    notes = [" " * 20_000 + f"note {k}" + " " * 20_000 for k in range(25)] * 2
    began = time.perf_counter()
    assert ColumnPreparation().fit(columns(note=notes)).columns[0].kind == "category"
    assert time.perf_counter() - began < 5.0


def test_files_that_are_no_text_are_not_read_as_documents(tmp_path):
    for name in ("year=2020", "year=2021"):
        (tmp_path / "data" / name).mkdir(parents=True)
        frame = pd.DataFrame({"a": [1.5, 2.5], "sold": ["y", "n"]})
        frame.to_parquet(tmp_path / "data" / name / "part.parquet")
    for reading in (Reading(), Reading(target="sold")):
        with pytest.raises(DataError, match=r"data holds Parquet files in folders \(year=2020\), "):
            read_table(tmp_path / "data", reading)
    with pytest.raises(DataError, match=r"part\.parquet is not text.*one folder"):
        read_table(tmp_path / "data", Reading(format="folders"))
    (tmp_path / "t.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(DataError, match=r"t\.txt is not text"):
        read_table(tmp_path / "t.txt", labelled=False)
