"""Tables with named columns: CSV, TSV and Parquet as a pandas data frame.

pandas reads CSV because it knows every dialect and compression people use and is there already
(ArviZ needs it).
"""

import difflib
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.tables.dialect import SEPARATORS, separator_of, with_decimal_points
from bayesmargin.tables.table import Reading, Table, clean_labels, listed

CLOSE = 0.75  # similarity of two names from which one may be a slip of the other


def read_csv(path: Path, form: str, as_text: Collection[str], separator: str | None = None) -> Any:
    """Data frame of a CSV or TSV file, which may be compressed.

    Where the usual separator leaves the first line in one piece, it is taken from that line.
    """
    import lzma

    import pandas

    usual = separator or SEPARATORS[form]
    try:
        names = _header(path, usual)
        if separator is None and len(names) == 1:
            usual = separator_of(names[0]) or usual
            names = _header(path, usual)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            hint = "rename them"
            if all(_is_number(name) for name in twice):
                hint = "the first line should hold the names of the columns"
            raise DataError(f"{path} has several columns named {listed(twice)}: {hint}")
        types = {name: str for name in as_text if name in names}
        frame = pandas.read_csv(path, sep=usual, dtype=types, low_memory=False)
        return frame if usual == "," else with_decimal_points(frame, as_text)
    except DataError:
        raise
    except pandas.errors.EmptyDataError as error:
        raise DataError(f"{path} is empty") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text: convert it, for instance with iconv -f {_encoding(path)} "
            f"-t UTF-8 {path}"
        ) from error
    except (pandas.errors.ParserError, ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} is not readable as {form.upper()}: {_brief(error)}") from error
    except (lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path} is truncated or corrupt: {_brief(error)}") from error


def _encoding(path: Path) -> str:
    """What a file that is not UTF-8 may be: UTF-16 begins with a mark, old files are Latin-1."""
    with open(path, "rb") as file:
        marked = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    return "UTF-16" if marked else "LATIN1"


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _header(path: Path, separator: str) -> list[str]:
    """Names in the first line."""
    import pandas

    first = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str)
    return [str(name) for name in first.iloc[0]]


def read_parquet(path: Path, wanted: Collection[str | None] = ()) -> Any:
    """Data frame of a Parquet file, or of all Parquet files of a folder in the order of names.

    The index of a data frame is left out, but for columns that are ``wanted``.
    """
    import pandas

    from bayesmargin.rows.parquet import parquet_files

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError('Parquet files need pyarrow: pip install "bayesmargin[files]"') from error
    frames: list[Any] = []
    for file in parquet_files(path):
        try:
            with pyarrow.parquet.ParquetFile(file) as opened:
                frame = opened.read().to_pandas()
                frame = frame.reset_index([name for name in frame.index.names if name in wanted])
        except (pyarrow.ArrowInvalid, pyarrow.ArrowException, OSError) as error:
            raise DataError(f"{file} is not a readable Parquet file: {_brief(error)}") from error
        if frames and list(frame) != list(frames[0]):
            odd = sorted(set(map(str, frame)) ^ set(map(str, frames[0])))
            what = f"column {odd[0]!r}" if odd else "the order of the columns"
            raise DataError(f"{file} disagrees with the other files of {path} about {what}")
        frames.append(frame)
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def split_columns(
    frame: Any, reading: Reading, source: str, labelled: bool, named: bool = True
) -> Table:
    """Separate labels, row names and documents from the features.

    Labels must be there if ``labelled``, row names if ``named``.
    """
    frame = frame.rename(columns=str)
    if not named and reading.identity not in frame:
        reading = replace(reading, identity=None)
    wanted = [("--id", reading.identity, True), ("--text", reading.text, True)]
    wanted += [("--drop", name, labelled) for name in reading.drop]
    wanted += [("--categorical", name, labelled) for name in reading.categorical]
    wanted.insert(0, ("--target", reading.target, labelled))
    for option, name, needed in wanted:
        if name is not None and needed and name not in frame:
            raise DataError(no_column(option, name, list(frame), source))
    labels = ids = None
    if reading.target is not None and reading.target in frame:
        labels = frame[reading.target]
        if labelled or not labels.isna().any():
            labels = clean_labels(labels, f"the target column {reading.target!r} of {source}")
        else:  # new rows, some of them without an answer: nothing to compare with
            labels = None
    if reading.identity is not None:
        ids = frame[reading.identity].tolist()
    name = reading.identity or "row"
    if reading.text is not None:
        documents = frame[reading.text]
        empty = int(documents.isna().sum())
        remarks = [f"{empty} documents of column {reading.text!r} are empty"] if empty else []
        spare = [c for c in frame if c not in {reading.text, reading.target, reading.identity}]
        spare = [column for column in spare if column not in reading.drop]
        if spare and labelled:
            remarks.append(
                f"only the documents of column {reading.text!r} are read; columns left out: "
                f"{listed(spare)}"
            )
        texts = documents.fillna("").astype(str).tolist()
        return Table("text", texts, labels, ids, name, source, remarks)
    taken = {reading.target, reading.identity, *reading.drop}
    features = frame[[column for column in frame if column not in taken]]
    if features.shape[1] == 0:
        raise DataError(f"{source} has no columns left to learn from")
    return Table("columns", features, labels, ids, name, source)


def no_column(option: str, name: str, columns: list[str], source: str) -> str:
    """What to say about a column that is not there."""
    close = difflib.get_close_matches(name, columns, 1, CLOSE)
    guess = f"; did you mean {close[0]!r}?" if close else f"; its columns are {listed(columns)}"
    return f"{source} has no column {name!r} ({option}){guess}"


def _brief(error: BaseException) -> str:
    """First line of somebody else's message."""
    lines = str(error).strip().splitlines()
    return lines[0].removeprefix("Error tokenizing data. C error: ") if lines else repr(error)
