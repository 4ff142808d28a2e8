"""Files of labels for data that have none: ``.npy``, or one a line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.inputs.names import listed
from bayesmargin.tables.matrices import load_npy
from bayesmargin.tables.table import Table, clean_labels, count
from bayesmargin.tables.text import decoded, split_lines


def read_labels(path: Path) -> Any:
    """Labels of a file: an array, or lines as whole numbers where all are, else as words."""
    if not path.exists():
        raise DataError(f"there is no file of labels {path}")
    if path.suffix.lower() == ".npy":
        values = load_npy(path)
        if values.ndim != 1:
            raise DataError(f"{path} has the shape {values.shape}: labels are one column")
        return values
    try:
        lines = split_lines(decoded(path.read_bytes()))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start})") from error
    words = [line.strip() for line in lines]
    if "" in words:
        raise DataError(f"{path} has no label in line {words.index('') + 1}")
    return whole_numbers(words)


def with_labels(table: Table, path: Path, measured: bool = False) -> Table:
    """The table with the labels of a file."""
    values = read_labels(path)
    if len(values) != len(table):
        raise DataError(
            f"{path} has {count(len(values), 'label')}, but {table.source} has "
            f"{count(len(table), 'row')}"
        )
    return replace(table, labels=clean_labels(values, f"the label file {path}", measured))


def look_alikes(labels: Any) -> list[str]:
    """Remarks about classes that are probably one, written in several ways."""
    if labels.dtype.kind != "U":
        return []
    alike: dict[str, list[str]] = {}
    for name in np.unique(labels).tolist():
        alike.setdefault(" ".join(name.split()).casefold(), []).append(name)
    return [
        f"classes that differ in blanks or capitals only: {listed(names)}; if they are one, mend "
        "the labels"
        for names in alike.values()
        if len(names) > 1
    ]


def unwatched(labels: Any, held_out: Any) -> list[str]:
    """Remarks about classes too small for the share of their rows that was to be held out."""
    if not len(held_out):
        return ["no rows are held out: every class is too small for the share that was asked for"]
    names, counts = np.unique(labels, return_counts=True)
    watched = set(np.unique(held_out).tolist())
    small = [
        f"{str(name)!r} ({number:,})"
        for name, number in zip(names.tolist(), counts.tolist(), strict=True)
        if name not in watched
    ]
    if not small:
        return []
    shown = ", ".join(small[:8]) + (f" and {len(small) - 8} more" if len(small) > 8 else "")
    what = "the class" if len(small) == 1 else "the classes"
    return [f"no rows of {what} {shown} are held out: the accuracy tells nothing of them"]


def whole_numbers(words: Any) -> Any:
    """Words as whole numbers, when all of them are."""
    try:
        return np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.asarray(words, dtype=np.str_)
