"""Files larger than memory, read piece by piece without any preparation (``--as-is``)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesmargin.cli.failures import usage_error


def open_as_is(data: Path, reading: Any, needed: bool, n_features: int | None = None) -> Any:
    """Rows of a ``.npy``, svmlight or Parquet file as the linear model reads them itself."""
    from bayesmargin.errors import DataError
    from bayesmargin.rows import open_rows
    from bayesmargin.tables import format_of
    from bayesmargin.tables.labels import read_labels
    from bayesmargin.tables.table import clean_labels

    if not data.exists():
        raise DataError(f"there is no file or folder {data}")
    form = format_of(data, reading.format)
    if form not in ("npy", "svmlight", "parquet"):
        raise usage_error(f"--as-is reads .npy, svmlight and Parquet files, and {data} is {form}")
    measured = reading.measured
    unused = replace(
        reading, format=None, target=None, labels=None, n_features=None, measured=False
    )
    if unused != type(reading)():
        raise usage_error("--as-is leaves columns as they are: only --target goes with it")
    label = reading.target if form == "parquet" else None
    if not needed and label is not None:
        other = reading.labels is not None or not _has_column(data, label)
        label = None if other else label
    width = reading.n_features or n_features if form == "svmlight" else None
    beside = None if reading.labels is None else read_labels(Path(reading.labels))
    try:
        rows = open_rows(data, label=label, labels=beside, n_features=width)
    except ValueError as error:
        raise DataError(str(error)) from error
    if needed and rows.labels is None:
        how = "name the column with --target" if form == "parquet" else "pass --labels FILE"
        raise DataError(f"{data} holds no labels: {how}")
    if rows.labels is not None:  # as in files that are prepared: 1 and not 1.0
        rows.labels = clean_labels(rows.labels, f"the labels of {data}", measured)
    return rows


def _has_column(data: Path, name: str) -> bool:
    import pyarrow.parquet

    from bayesmargin.rows.parquet_files import parquet_files

    return name in pyarrow.parquet.read_schema(parquet_files(data)[0]).names
