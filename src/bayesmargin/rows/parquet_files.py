"""Parquet files as such: those of a folder, opened, and the columns that they agree about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayesmargin.errors import DataError

SUFFIXES = (".parquet", ".pq")
DECIMAL = "decimal"  # begin the names of Arrow's types of decimal numbers
BUFFER = 1 << 16  # bytes of a column that are read at a time


def arrow() -> Any:
    """The library that reads them, or an error that says how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error
    return pyarrow


@contextmanager
def reading(file: Path) -> Iterator[Any]:
    """Open a Parquet file; errors of the format name it."""
    pyarrow = arrow()
    try:
        # Without a buffer Arrow would hold all bytes of a row group, which may be the whole file.
        options = {"pre_buffer": False, "buffer_size": BUFFER}
        with pyarrow.parquet.ParquetFile(file, **options) as opened:
            yield opened
    except (pyarrow.ArrowException, pyarrow.ArrowIOError) as error:
        size = file.stat().st_size
        raise ValueError(
            f"{file} ({size} bytes) is not a readable Parquet file: {error}"
        ) from error


def parquet_files(path: Path) -> list[Path]:
    """The file itself, or the Parquet files of a folder in the order of their names.

    Those whose name begins with a point are not shown to people and not read.
    """
    if not path.is_dir():
        return [path]
    found = sorted(
        file
        for file in path.iterdir()
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    )
    if not found:
        deeper = next(path.glob("*/**/*.parquet"), None)
        hint = "" if deeper is None else f"; those of {deeper.parent} are opened by that name"
        raise ValueError(f"the folder {path} holds no .parquet files{hint}")
    return found


def index_columns(schema: Any) -> set[str]:
    """Columns that are the index of the data frame that was written, and no data of its own.

    pandas writes one whenever rows were chosen or sorted before.
    """
    stored = (schema.pandas_metadata or {}).get("index_columns", ())
    return {name for name in stored if isinstance(name, str)}


def check_schema(
    file: Path, names: list[tuple[str, str]], first: Path, schema: list[tuple[str, str]] | None
) -> None:
    """Refuse a file whose columns (names and types) are not those of the first one."""
    if schema is None or names == schema:
        return
    here, there = dict(names), dict(schema)
    odd = sorted(set(here.items()) ^ set(there.items()))
    what = f"column {odd[0][0]!r}" if odd else "the order of the columns"
    raise ValueError(
        f"{file} and {first} disagree about {what}: all files of a folder need the same columns "
        "with the same types, in the same order"
    )


def feature_columns(path: Path, schema: list[tuple[str, str]], label: str | None) -> list[str]:
    """Names of the columns that are features: all but the label, and each of them of numbers."""
    names = [name for name, _ in schema]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path} has several columns named {twice!r}: rename them")
    if label is not None and label not in names:
        shown = ", ".join(repr(name) for name in names[:20])
        raise DataError(f"{path} has no column {label!r} for the labels; its columns are {shown}")
    numeric = ("int", "uint", "float", "double", "halffloat", "bool", DECIMAL)
    for name, kind in schema:
        if name != label and not kind.startswith(numeric):
            raise DataError(
                f"column {name!r} of {path} has the type {kind}: features are numbers; if it holds "
                f"the labels say so (label={name!r} in open_rows, --target in the shell), or write "
                "the file without it"
            )
    return [name for name in names if name != label]
