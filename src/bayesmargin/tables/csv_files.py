"""CSV and TSV files as pandas data frames.

pandas reads them because it knows every dialect and compression people use and is there already
(ArviZ needs it).
"""

import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.inputs.checks import is_number
from bayesmargin.inputs.names import listed
from bayesmargin.tables.dialect import (
    SEPARATORS,
    separator_of,
    with_decimal_points,
    with_long_numbers,
)
from bayesmargin.tables.table import brief, count
from bayesmargin.tables.text import COMPRESSED, UTF_16

MISSING = (  # the words that pandas takes for missing values
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
PACKED = {
    b"PK\x03\x04": "an Excel workbook or a zip archive; save the table as CSV",
    b"\x1f\x8b": "a gzip archive; its name should end in .csv.gz",
    b"PAR1": "a Parquet file; its name should end in .parquet",
}


def read_csv(
    path: Path,
    form: str,
    as_text: Collection[str] = (),
    separator: str | None = None,
    literal: Collection[str] = (),
    numeric: Collection[str] = (),
    target: str | None = None,
) -> tuple[Any, list[str]]:
    """Data frame of a CSV or TSV file, which may be compressed, and what is odd about it.

    Where the usual separator leaves the first line in one piece, it is taken from that line. Blanks
    after a separator are no part of a field.
    Columns in ``as_text`` are words, also where they look like numbers; those that are ``literal``
    have no missing values either: ``NA`` is somebody's name. Those known to be ``numeric`` may have
    decimal commas where others have. Labels, in the column ``target``, are not rounded.
    """
    import lzma

    import pandas

    usual = separator or SEPARATORS[form]
    try:
        names = _header(path, usual)
        if separator is None and len(names) == 1:
            usual = separator_of(names[0]) or usual
            names = _header(path, usual)
        refuse_twins(names, path)
        how: dict[str, Any] = {
            "sep": usual,
            "skipinitialspace": True,
            "dtype": dict.fromkeys({*as_text, *literal}, str),
            "low_memory": False,
            **(_missing_words(names, literal) if literal else {}),
        }
        frame, remarks = _read(path, how)
        frame = with_long_numbers(frame, {*as_text, *literal}, MISSING, target)
        if usual != ",":
            frame, odd = with_decimal_points(frame, {*as_text, *literal}, numeric)
            remarks += odd
        return frame, remarks
    except DataError:
        raise
    except pandas.errors.EmptyDataError as error:
        raise DataError(f"{path} is empty") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not {_not_text(path)}") from error
    except (pandas.errors.ParserError, ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} is not readable as {form.upper()}: {brief(error)}") from error
    except (lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path} is truncated or corrupt: {brief(error)}") from error


def _read(path: Path, how: dict[str, Any]) -> tuple[Any, list[str]]:
    """The frame, where lines may have more fields than the first line has names.

    pandas then takes the first fields for the names of the rows and moves every name to the right.
    That is what R writes. Where the fields at the end are empty they are the ones too many:
    every line but the first ends in a separator.
    """
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            return pandas.read_csv(path, index_col=False, **how), []
        except pandas.errors.ParserWarning:  # more fields than names, and not one empty one
            frame = pandas.read_csv(path, **how)
    more = frame.index.nlevels
    last = frame.iloc[:, -more:]
    if (last.isna() | (last == "")).all(axis=None):
        wanted = [*frame.columns, *(f"extra {k}" for k in range(more))]
        return pandas.read_csv(path, header=0, names=wanted, usecols=list(frame), **how), []
    first = listed([*(frame.index[0] if more > 1 else [frame.index[0]])])
    return frame.reset_index(drop=True), [
        f"the lines of {path} have {count(more, 'field')} more than the first line has names: "
        f"what they begin with ({first} in row 1) is taken for the name of the row and left out"
    ]


def _missing_words(names: list[str], literal: Collection[str]) -> dict[str, Any]:
    """What says of every column which words are missing values: in literal ones none."""
    called = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    words = {name: MISSING for name in called if name not in literal}
    return {"keep_default_na": False, "na_values": words}


def _header(path: Path, separator: str) -> list[str]:
    """Names in the first line, empty ones as they are."""
    import pandas

    first = pandas.read_csv(
        path,
        sep=separator,
        skipinitialspace=True,
        header=None,
        nrows=1,
        dtype=str,
        keep_default_na=False,
    )
    return [str(name) for name in first.iloc[0]]


def refuse_twins(names: Sequence[str], path: Path) -> None:
    """Refuse names that several columns have."""
    twice = sorted(name for name, times in Counter(names).items() if name and times > 1)
    if not twice:
        return
    hint = "rename them"
    if all(is_number(name) for name in twice):
        hint = "the first line should hold the names of the columns"
    raise DataError(f"{path} has several columns named {listed(twice)}: {hint}")


def _not_text(path: Path) -> str:
    """What a file that is not UTF-8 is not, and what to do.

    UTF-16 begins with a mark, old files are Latin-1, and other files have zeros somewhere.
    """
    with open(path, "rb") as file:
        begin = file.read(1 << 16)
    if path.suffix.lower() in COMPRESSED:
        return "UTF-8 text: unpack it, and convert it with iconv"
    if begin[:2] in UTF_16 or b"\0" not in begin:
        encoding = "UTF-16" if begin[:2] in UTF_16 else "LATIN1"
        return (
            f"UTF-8 text: convert it, for instance with iconv -f {encoding} -t UTF-8 "
            f"{quote(str(path))}"
        )
    kind = next((what for mark, what in PACKED.items() if begin.startswith(mark)), None)
    return "text: it holds zero bytes" if kind is None else f"text: it looks like {kind}"
