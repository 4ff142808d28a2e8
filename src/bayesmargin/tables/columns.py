"""Tables with named columns: Parquet and Arrow as pandas data frames; labels, names, features."""

import difflib
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.inputs.names import listed
from bayesmargin.tables.csv_files import refuse_twins
from bayesmargin.tables.table import Reading, Table, brief, clean_labels, count

CLOSE = 0.75  # similarity of two names from which one may be a slip of the other
WORDS = ("string", "large_string", "string_view")  # types of Arrow
WHOLE = ("int", "uint")  # with which their whole numbers begin
NAMELESS = re.compile(r"Unnamed: \d+(\.\d+)?$")  # what pandas calls a column without a name


def read_parquet(
    path: Path, wanted: Collection[str | None] = (), as_text: Collection[str] = ()
) -> Any:
    """Data frame of a Parquet file, or of all Parquet files of a folder in the order of names.

    The index of a data frame is left out, but for columns that are ``wanted``. Decimal numbers, as
    data bases have them, become floats but for columns in ``as_text``. A column that holds numbers
    in one file and words in another is an error; one without any value agrees with both.
    """
    import pandas

    from bayesmargin.rows.parquet_files import parquet_files

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError('Parquet files need pyarrow: pip install "bayesmargin[files]"') from error
    frames: list[Any] = []
    kinds: dict[str, str] = {}
    for file in parquet_files(path):
        try:
            with pyarrow.parquet.ParquetFile(file) as opened:
                refuse_twins(opened.schema_arrow.names, file)
                frame, held = _frame(opened.read(), wanted, as_text)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowException, OSError) as error:
            raise DataError(f"{file} is not a readable Parquet file: {brief(error)}") from error
        if frames and list(frame) != list(frames[0]):
            odd = sorted(set(map(str, frame)) ^ set(map(str, frames[0])))
            what = f"column {odd[0]!r}" if odd else "the order of the columns"
            raise DataError(f"{file} disagrees with the other files of {path} about {what}")
        for name, kind in held.items():
            if name not in as_text and kinds.setdefault(name, kind) != kind:
                raise DataError(
                    f"{file} disagrees with the other files of {path} about column {name!r}: it "
                    f"holds {kind} there, and {kinds[name]} in the files before"
                )
        frames.append(frame)
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def read_arrow(
    path: Path, wanted: Collection[str | None] = (), as_text: Collection[str] = ()
) -> Any:
    """Data frame of an Arrow file or stream, or of a Feather file of either version.

    Columns are treated like those of Parquet files.
    """
    try:
        import pyarrow
        import pyarrow.feather
    except ImportError as error:
        raise DataError('Arrow files need pyarrow: pip install "bayesmargin[files]"') from error
    try:
        with open(path, "rb") as file:
            begins = file.read(4)
        if begins in (b"ARRO", b"FEA1"):
            table = pyarrow.feather.read_table(path)
        else:
            with pyarrow.ipc.open_stream(path) as stream:
                table = stream.read_all()
    except (pyarrow.ArrowInvalid, pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a readable Arrow file: {brief(error)}") from error
    refuse_twins(table.column_names, path)
    return _frame(table, wanted, as_text)[0]


def _frame(
    table: Any, wanted: Collection[str | None], as_text: Collection[str]
) -> tuple[Any, dict[str, str]]:
    """Data frame of an Arrow table, and which columns hold numbers or words."""
    table = _with_floats(table, as_text)
    frame = table.to_pandas()
    frame = frame.reset_index([name for name in frame.index.names if name in wanted])
    for name in (_empty(table) - set(as_text)).intersection(frame):
        frame[name] = float("nan")  # numbers, where another file has numbers
    for name in set(as_text).intersection(frame, table.column_names):
        if str(table.field(name).type).startswith(WHOLE):  # floats beside missing ones, in pandas
            frame[name] = table.column(name).to_pandas(integer_object_nulls=True).to_numpy()
    return frame, _kinds(table)


def _with_floats(table: Any, as_text: Collection[str]) -> Any:
    """An Arrow table whose decimal numbers are floats: pandas would have objects for them."""
    import pyarrow

    for place, field in enumerate(table.schema):
        if pyarrow.types.is_decimal(field.type) and field.name not in as_text:
            values = table.column(place).cast(pyarrow.float64())
            table = table.set_column(place, field.with_type(pyarrow.float64()), values)
    return table


def _empty(table: Any) -> set[str]:
    """Columns of an Arrow table without any value."""
    pairs = zip(table.column_names, table.columns, strict=True)
    return {name for name, column in pairs if column.null_count == len(column) > 0}


def _kinds(table: Any) -> dict[str, str]:
    """Columns of an Arrow table that hold numbers or words, and which."""
    from pyarrow import types

    found, empty = {}, _empty(table)
    for name, column in zip(table.column_names, table.columns, strict=True):
        inner = getattr(column.type, "value_type", column.type)
        if name in empty:
            continue
        if types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner):
            found[name] = "numbers"
        elif str(inner) in WORDS:
            found[name] = "words"
    return found


def split_columns(
    frame: Any,
    reading: Reading,
    source: str,
    labelled: bool,
    named: bool = True,
    checked: bool = True,
) -> Table:
    """Separate labels, row names and documents from the features.

    Labels must be there if ``labelled``, row names if ``named``, columns to leave out or of
    categories if ``labelled`` and ``checked``; labels may be in a file of their own unless
    ``checked``. Columns without a name, which are the row numbers that pandas writes by itself,
    are left out.
    """
    frame = frame.rename(columns=str)
    if not named and reading.identity not in frame:
        reading = replace(reading, identity=None)
    wanted = [("--id", reading.identity, True), ("--text", reading.text, True)]
    wanted += [("--drop", name, labelled and checked) for name in reading.drop]
    wanted += [("--categorical", name, labelled and checked) for name in reading.categorical]
    own = labelled and (checked or reading.labels is None)  # labels may lie beside new rows
    wanted.insert(0, ("--target", reading.target, own))
    for option, name, needed in wanted:
        if name is not None and needed and name not in frame:
            raise DataError(no_column(option, name, list(frame), source))
    if labelled and reading.target is not None and reading.text == reading.target:
        raise DataError(
            f"column {reading.target!r} holds the labels (--target) and cannot hold the documents "
            "(--text), too: they would tell their own labels"
        )
    labels = ids = None
    if reading.target is not None and reading.target in frame:
        labels = frame[reading.target]
        if own or not labels.isna().any():
            name = f"the target column {reading.target!r} of {source}"
            labels = clean_labels(labels, name, reading.measured)
        else:  # new rows, some of them without an answer: nothing to compare with
            labels = None
    if reading.identity is not None:
        ids = frame[reading.identity].tolist()
    name = reading.identity or "row"
    if reading.text is not None:
        documents = frame[reading.text]
        texts = documents.fillna("").astype(str).tolist()
        empty = sum(not text.strip() for text in texts)
        verb = "is" if empty == 1 else "are"
        remarks = []
        if empty:
            remarks.append(f"{count(empty, 'document')} of column {reading.text!r} {verb} empty")
        spare = [c for c in frame if c not in {reading.text, reading.target, reading.identity}]
        spare = [column for column in spare if column not in reading.drop]
        if spare and labelled:
            remarks.append(
                f"only the documents of column {reading.text!r} are read; columns left out: "
                f"{listed(spare)}"
            )
        return Table("text", texts, labels, ids, name, source, remarks)
    taken = {reading.target, reading.identity, *reading.drop}
    rest = [column for column in frame if column not in taken]
    nameless = [column for column in rest if NAMELESS.match(column)]
    nameless = [column for column in nameless if column not in reading.categorical]
    features = frame[[column for column in rest if column not in nameless]]
    if features.shape[1] == 0:
        raise DataError(f"{source} has no columns left to learn from")
    remarks = _about_nameless([c for c in nameless if frame[c].notna().any()])
    return Table("columns", features, labels, ids, name, source, remarks if labelled else [])


def _about_nameless(columns: list[str]) -> list[str]:
    if not columns:
        return []
    return [
        f"columns without a name are left out: {listed(columns)} (row numbers are written so; "
        "give a column a name to learn from it)"
    ]


def no_column(option: str, name: str, columns: list[str], source: str) -> str:
    """What to say about a column that is not there."""
    close = [column for column in columns if column.strip().casefold() == name.strip().casefold()]
    close = close or difflib.get_close_matches(name, columns, 1, CLOSE)
    guess = f"; did you mean {close[0]!r}?" if close else f"; its columns are {listed(columns)}"
    return f"{source} has no column {name!r} ({option}){guess}"
