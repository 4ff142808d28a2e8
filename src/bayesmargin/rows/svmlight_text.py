"""Lines ``label index:value ...`` of svmlight (LIBSVM) text as arrays.

Compiled code reads plain lines. A line that it does not understand, be it wrong or only written in
an unusual way, goes to :func:`read_line`, which takes what Python's ``float`` and ``int`` take and
says what is wrong with the rest.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.decimals import POWERS_OF_FIVE, read_decimal

LARGEST_INDEX = 2**31 - 1
NEWLINE, HASH, COLON = 10, 35, 58
SHOWN = 40  # characters of a field that a message shows


class Lines(NamedTuple):
    """Rows in the form of a CSR matrix.

    Attributes
    ----------
    labels : array of shape (rows,)
    bounds : array of shape (rows + 1,)
        Where the entries of a row begin, and the end of the last.
    columns : array of shape (entries,)
        Indices less one, increasing within a row.
    values : array of shape (entries,)
    """

    labels: FloatArray
    bounds: IntArray
    columns: IntArray
    values: FloatArray


def read_lines(text: bytes, first: int = 0, largest: float = math.inf) -> Lines:
    r"""Rows of whole lines; empty ones, and what follows a ``#``, count for nothing.

    Parameters
    ----------
    text : bytes
        Lines; only the last may lack its line feed.
    first : int
        Lines before these, for messages.
    largest : float
        Values beyond it in size are refused, and so are any that are not finite.

    Examples
    --------
    >>> from bayesmargin.rows.svmlight_text import read_lines
    >>> rows = read_lines(b"+1 1:0.5 3:2\n# nothing\n-1 qid:7 2:1e-3\n")
    >>> [part.tolist() for part in rows]
    [[1.0, -1.0], [0, 2, 3], [0, 2, 1], [0.5, 2.0, 0.001]]
    """
    text = text if text.endswith(b"\n") else text + b"\n"
    most_rows, most_entries = text.count(b"\n"), text.count(b":")
    labels, bounds = np.empty(most_rows), np.zeros(most_rows + 1, dtype=np.int64)
    columns, values = np.empty(most_entries, dtype=np.int32), np.empty(most_entries)
    bits = (labels.view(np.uint64), values.view(np.uint64))
    raw, counts = np.frombuffer(text, dtype=np.uint8), np.zeros(2, dtype=np.int64)
    begin = 0
    while True:
        begin = _plain_lines(raw, begin, POWERS_OF_FIVE, bounds, columns, *bits, counts)
        if begin == len(text):
            break
        (row, entry), end = counts.tolist(), text.index(b"\n", begin) + 1
        label, places, numbers = _numbered(text, begin, end, first, largest)
        last = entry + len(places)
        labels[row], columns[entry:last], values[entry:last] = label, places, numbers
        bounds[row + 1], counts[:], begin = last, (row + 1, last), end
    row, entry = counts.tolist()
    result = Lines(labels[:row], bounds[: row + 1], columns[:entry], values[:entry])
    if entry and max(result.values.max(), -result.values.min()) > largest:
        begin = 0
        while begin < len(text):  # up to the one to blame
            end = text.index(b"\n", begin) + 1
            _numbered(text, begin, end, first, largest)
            begin = end
    return result


def _numbered(text: bytes, begin: int, end: int, first: int, largest: float) -> Any:
    """What :func:`read_line` gives for one line of a text; its error with the line's number."""
    try:
        return read_line(text[begin:end], largest)
    except ValueError as error:
        number = first + 1 + text.count(b"\n", 0, begin)
        raise DataError(f"line {number} {error}") from None


def read_line(line: bytes, largest: float = math.inf) -> tuple[float, list[int], list[float]]:
    """Label, columns and values of one line, by Python; an empty one has the label NaN.

    Examples
    --------
    >>> from bayesmargin.rows.svmlight_text import read_line
    >>> read_line(b"+1 1:1_000 2:0.1000000000000000000000")
    (1.0, [0, 1], [1000.0, 0.1])
    >>> read_line(b"+1 3:1 2:1")
    Traceback (most recent call last):
        ...
    ValueError: has the index 2 after 3: indices increase within a line
    """
    fields = line.partition(b"#")[0].split()
    if not fields:
        return math.nan, [], []
    label = _read(float, fields[0], fields[0])
    if not math.isfinite(label):
        raise ValueError(f"has the label {label}: labels are finite numbers")
    columns: list[int] = []
    values: list[float] = []
    for place, field in enumerate(fields[1:]):
        name, colon, number = field.partition(b":")
        if place == 0 and colon and name.startswith(b"qid"):
            continue
        index, value = _read(int, name, field), _read(float, number, field)
        if index < 1:
            raise ValueError(
                f"has the index {index}, but indices start from 1 (scikit-learn writes them so by "
                "dump_svmlight_file(..., zero_based=False))"
            )
        if columns and index <= columns[-1] + 1:
            raise ValueError(
                f"has the index {index} after {columns[-1] + 1}: indices increase within a line"
            )
        if index > LARGEST_INDEX:
            raise ValueError(f"has the index {index}, beyond {LARGEST_INDEX}")
        if not math.isfinite(value):
            raise ValueError(f"has the value {value}: features are finite numbers")
        if abs(value) > largest:
            raise ValueError(f"has the value {value:g}: features are at most {largest:g} in size")
        columns.append(index - 1)
        values.append(value)
    return label, columns, values


def _read(kind: Any, text: bytes, field: bytes) -> Any:
    try:
        return kind(text)
    except ValueError:
        shown = field.decode("utf-8", errors="replace")
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        raise ValueError(f"is not 'label index:value ...': it has {shown!r}") from None


@jit
def _plain_lines(text, begin, powers, bounds, columns, labels, values, counts):  # type: ignore[no-untyped-def]
    """Read lines from ``begin`` on; where a line begins that is not plain, or the end.

    ``counts`` are the rows and the entries so far. Labels and values are written as bits.
    """
    while begin < text.shape[0]:
        row, entry = counts[0], counts[1]
        place = _after_blanks(text, begin)
        if not _at_end(text[place]):
            place, labels[row] = read_decimal(text, place, powers)
            place = _after_query(text, _next_field(text, place))
            last = 0
            while place >= 0 and not _at_end(text[place]):
                place, index = _index(text, place)
                if place < 0 or index <= last:
                    return begin
                place, values[entry] = read_decimal(text, place, powers)
                place = _next_field(text, place)
                columns[entry] = index - 1
                last = index
                entry += 1
            if place < 0:
                return begin
            bounds[row + 1] = entry
            counts[0], counts[1] = row + 1, entry
        while text[place] != NEWLINE:
            place += 1
        begin = place + 1
    return begin


@inner_jit
def _at_end(character):  # type: ignore[no-untyped-def]
    """Whether a line, or what counts of it, ends here."""
    return character in (NEWLINE, HASH)


@inner_jit
def _after_blanks(text, place):  # type: ignore[no-untyped-def]
    while text[place] == 32 or (9 <= text[place] <= 13 and text[place] != NEWLINE):
        place += 1
    return place


@inner_jit
def _next_field(text, place):  # type: ignore[no-untyped-def]
    """Place of the next field or of the end; -1 if the last one does not end at ``place``."""
    if place < 0:
        return place
    there = _after_blanks(text, place)
    return there if there > place or _at_end(text[place]) else -1


@inner_jit
def _after_query(text, place):  # type: ignore[no-untyped-def]
    """Place after a field ``qid:...``, if there is one."""
    if place < 0 or text[place] != 113:
        return place
    for letter in (113, 105, 100, COLON):
        if text[place] != letter:
            return -1
        place += 1
    while text[place] > 32 and text[place] != HASH:
        place += 1
    return _next_field(text, place)


@inner_jit
def _index(text, place):  # type: ignore[no-untyped-def]
    """Place after an index and its colon, and the index; -1: not plain."""
    index = np.int64(0)
    while 48 <= text[place] <= 57 and index <= LARGEST_INDEX:
        index = 10 * index + np.int64(text[place]) - 48
        place += 1
    if text[place] != COLON or index > LARGEST_INDEX:
        return -1, index
    return place + 1, index
