"""Rows that a model has not seen, in files that are not quite like those it has learned from."""

import pandas as pd
import pytest
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.tables import ColumnPreparation, MatrixPreparation, Reading, Table, read_table


def columns(**values):
    return Table("columns", pd.DataFrame(values), source="table.csv")


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_dates_in_new_rows_are_no_numbers(zone):
    learned = ColumnPreparation(missing="median").fit(columns(age=[30.0, 41.0, 55.0]))
    days = pd.Series([pd.NaT, *pd.date_range("2024-01-01", periods=2, tz=zone)])
    with pytest.raises(DataError, match=r"held numbers .*; row 2 has Timestamp\('2024-01-01"):
        learned.transform(columns(age=days))
    with pytest.raises(DataError, match=r"held numbers .*; row 1 has Timedelta\('1 days"):
        learned.transform(columns(age=pd.to_timedelta([1, 2], unit="D")))


def test_columns_may_be_lacking_only_where_a_file_does_not_say_how_many_it_has(tmp_path):
    wide = MatrixPreparation().fit(Table("matrix", sparse.csr_array([[1.0, 2.0]])))
    (tmp_path / "rows.svm").write_text("1 1:3\n")
    narrow = read_table(tmp_path / "rows.svm")
    assert wide.transform(narrow).toarray().tolist() == [[3.0, 0.0]]
    assert wide.transform(narrow.take([0])).shape == (1, 2)
    counted = read_table(tmp_path / "rows.svm", Reading(n_features=1))
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_array([[3.0]]))
    for table in (counted, read_table(tmp_path / "rows.npz", labelled=False)):
        with pytest.raises(DataError, match="has 1 columns, but the model was fitted on 2"):
            wide.transform(table)
