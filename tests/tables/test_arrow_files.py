"""Arrow and Feather files, whoever wrote them, are tables like Parquet files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesmargin.errors import DataError
from bayesmargin.tables import ColumnPreparation, Reading, format_of, read_table
from tests.cli.conftest import QUICK, answer, make_people

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")


def as_arrow(frame, path):
    with pyarrow.OSFile(str(path), "wb") as file:
        table = pyarrow.Table.from_pandas(frame)
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)


def as_stream(frame, path):
    table = pyarrow.Table.from_pandas(frame)
    with (
        pyarrow.OSFile(str(path), "wb") as file,
        pyarrow.ipc.new_stream(file, table.schema) as writer,
    ):
        writer.write_table(table)


WRITERS = {
    "file.arrow": as_arrow,
    "stream.ipc": as_stream,
    "two.feather": lambda frame, path: frame.to_feather(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_is_that_of_the_parquet_file(name, tmp_path):
    frame = make_people(60)
    frame["job"] = frame["job"].astype("category")
    frame.to_parquet(tmp_path / "people.parquet")
    WRITERS[name](frame, tmp_path / name)
    reading = Reading(target="income", identity="name")
    ours, theirs = (read_table(tmp_path / one, reading) for one in (name, "people.parquet"))
    pd.testing.assert_frame_equal(ours.data, theirs.data)
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert ours.ids == theirs.ids
    X = ColumnPreparation().fit(ours).transform(ours, [])
    np.testing.assert_array_equal(X, ColumnPreparation().fit(theirs).transform(theirs, []))


def test_names_tell_the_format():
    for name in ("a.arrow", "a.IPC", "a.feather"):
        assert format_of(Path(name)) == "arrow"


def test_other_files_are_refused(tmp_path):
    for content in (b"", b"age,job\n1,2\n", b"ARROW1\0\0broken"):
        (tmp_path / "x.arrow").write_bytes(content)
        with pytest.raises(DataError, match="is not a readable Arrow file"):
            read_table(tmp_path / "x.arrow", Reading(target="job"))


def test_the_shell_fits_what_polars_writes(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(make_people()).with_columns(
        polars.col("job").cast(polars.Categorical)
    )
    frame.write_parquet(tmp_path / "people.parquet")
    frame.write_ipc(tmp_path / "people.arrow")
    frame.write_ipc(tmp_path / "people.feather", compression="zstd")
    found = []
    for name in ("people.parquet", "people.arrow", "people.feather"):
        data = tmp_path / name
        model = tmp_path / f"of {name}"
        answer("fit", data, "--target", "income", "--id", "name", "-o", model, "-q", *QUICK)
        found.append(answer("evaluate", model, data)["log_loss"])
        assert answer("report", model, data)["rows"] == len(frame)
    assert found == [found[0]] * 3
