"""Rows of Parquet files, one file or a folder of them."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.files import BLOCK, FileRows
from bayesmargin.rows.finite import all_finite, unusable
from bayesmargin.rows.parquet_files import (
    DECIMAL,
    arrow,
    check_schema,
    feature_columns,
    index_columns,
    parquet_files,
    reading,
)

CLUSTERS = 50  # row groups that a rough sample comes from


class ParquetRows(FileRows):
    """Numeric columns of Parquet files as rows; one column, named ``label``, holds the labels.

    The index that pandas and Dask write beside the columns is no feature.

    Parameters
    ----------
    path : Path
        A file, or a folder whose ``.parquet`` files are read in the order of their names.
    label : str or None
        Column of the labels.
    memory : int
        Bytes that pieces in memory may take.
    """

    def __init__(self, path: Path, label: str | None, memory: int) -> None:
        self.path, self.paths = path, parquet_files(path)
        self.memory = memory
        self.ahead = max(1, memory // (4 * 4 * BLOCK))  # the blocks of a batch
        self.files: list[tuple[Path, slice]] = []  # with the starts of its row groups and its end
        schema, lengths = None, [0]
        for file in self.paths:
            with reading(file) as opened:
                index = index_columns(opened.schema_arrow) - {label}
                fields = [field for field in opened.schema_arrow if field.name not in index]
                names = [(field.name, str(field.type)) for field in fields]
                check_schema(file, names, self.paths[0], schema)
                schema = names if schema is None else schema
                groups = range(opened.num_row_groups)
                self.files.append((file, slice(len(lengths) - 1, len(lengths) + len(groups))))
                lengths += [opened.metadata.row_group(group).num_rows for group in groups]
        assert schema is not None
        self.starts = np.cumsum(lengths)  # first rows of all row groups, and the end
        self.feature_names = feature_columns(path, schema, label)
        self.shape = (int(self.starts[-1]), len(self.feature_names))
        self.label = label
        self.labels = None if label is None else self._label_column(label)

    def select(self, names: list[str]) -> "ParquetRows":
        """The same rows with the features ``names`` only, in that order."""
        chosen = copy.copy(self)
        chosen.feature_names, chosen.shape = list(names), (self.shape[0], len(names))
        chosen.kept, chosen.checked = None, False
        return chosen

    def pieces(self, constant: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield ``(first row, matrix)`` from beginning to end, column by column in memory."""
        assert self.feature_names is not None
        block = _block_rows(self.shape[1] + int(constant))
        size = max(1, self.memory // (4 * 4 * max(1, self.shape[1]) * block)) * block
        row = 0
        for file in self.paths:
            first = row
            with reading(file) as opened:
                batches = opened.iter_batches(
                    size, columns=self.feature_names, use_threads=_shared_decoding()
                )
                for batch in batches:
                    places = range(row - first, row - first + batch.num_rows)
                    for part in _matrices(batch, file, places, self.feature_names, constant):
                        yield row, part
                        row += part.shape[0]

    def take(self, index: IntArray) -> FloatArray:
        """Matrix of the rows with these numbers, in the order given, in one ordered pass."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        result = np.empty((len(index), self.shape[1]), dtype=np.float32)
        for file, groups in self.files:
            first = self.starts[groups]
            low, high = np.searchsorted(wanted, [first[0], first[-1]])
            if low < high:
                self._gather(file, first, wanted[low:high], order[low:high], result)
        return result

    def _gather(
        self, file: Path, first: IntArray, wanted: IntArray, places: IntArray, result: FloatArray
    ) -> None:
        """Copy the wanted rows of a file, whose groups begin with the rows ``first``, to places."""
        assert self.feature_names is not None
        of_group = np.searchsorted(first, wanted, side="right") - 1
        read, turn = np.unique(of_group, return_inverse=True)
        lengths = np.diff(first)[read]
        # Places of the wanted rows among those that are read.
        there = wanted - first[of_group] + (np.cumsum(lengths) - lengths)[turn]
        size = max(1, self.memory // (4 * 4 * max(1, self.shape[1])))
        with reading(file) as opened:
            batches = opened.iter_batches(
                size,
                row_groups=read.tolist(),
                columns=self.feature_names,
                use_threads=_shared_decoding(),
            )
            begin = 0
            for batch in batches:
                low, high = np.searchsorted(there, [begin, begin + batch.num_rows])
                if low < high:
                    part = batch.take(arrow().array(there[low:high] - begin))
                    numbers = wanted[low:high] - first[0]
                    found = list(_matrices(part, file, numbers, self.feature_names))
                    result[places[low:high]] = np.concatenate(found)
                begin += batch.num_rows

    def rough_sample(self, count: int, rng: np.random.Generator) -> tuple[IntArray, Any]:
        """Rows of some row groups: reading a few rows of a group takes as long as all of it."""
        first = self.starts
        order = rng.permutation(len(first) - 1)
        lengths = np.diff(first)[order]
        enough = int(np.searchsorted(np.cumsum(lengths), 4 * count)) + 1
        chosen = np.sort(order[: max(CLUSTERS, enough)])
        rows = np.concatenate([np.arange(first[group], first[group + 1]) for group in chosen])
        some = rng.choice(len(rows), min(count, len(rows)), replace=False, shuffle=False)
        index = np.sort(rows[some])
        return index, self.take(index)

    def _label_column(self, label: str) -> Any:
        parts = []
        for file in self.paths:
            with reading(file) as opened:
                column = opened.read(columns=[label]).column(label)
                if column.null_count:
                    row = int(np.flatnonzero(column.is_null().to_numpy())[0])
                    raise DataError(f"{file}: the label column {label!r} has no value in row {row}")
                parts.append(_labels(column))
                if not all_finite(parts[-1]):
                    row = int(np.flatnonzero(~np.isfinite(parts[-1]))[0])
                    raise DataError(
                        f"{file}: the label column {label!r} is {parts[-1][row]} in row {row} "
                        "(counted from 0): labels are words, true and false or finite numbers"
                    )
        return np.concatenate(parts)


def _labels(column: Any) -> Any:
    """An Arrow column as an array; words as NumPy has them and not as objects.

    An object for each row would take longer to make, and several times longer to tell apart.
    """
    kind = getattr(column.type, "value_type", column.type)
    if str(kind) not in ("string", "large_string", "string_view"):
        return _plain(column).to_numpy()
    parts = [np.zeros(0, dtype=np.str_)]
    for chunk in column.chunks:
        if str(chunk.type) == "string_view":
            chunk = chunk.cast("string")
        coded = chunk.dictionary_encode()
        parts.append(np.array(coded.dictionary.to_pylist(), dtype=np.str_)[coded.indices])
    return np.concatenate(parts)


def _plain(column: Any) -> Any:
    """An Arrow column with floats for the decimal numbers of data bases."""
    return column.cast("float64") if str(column.type).startswith(DECIMAL) else column


def _shared_decoding() -> bool:
    """Whether Arrow's threads pay: with two cores one reads while the other works on the rows."""
    return bool(arrow().cpu_count() > 2)


def _matrices(
    batch: Any, file: Path, rows: Any, names: list[str], constant: bool = False
) -> Iterator[FloatArray]:
    """Blocks of a batch in single precision, each column by column in memory.

    That is how they come; turning them into rows would take longer than all that is done with them.
    ``rows`` are the numbers of the rows in the file, for messages.
    """
    arrays = []
    for name in names:
        column = batch.column(name)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise unusable(file, name, int(rows[row]))
        arrays.append(_plain(column).to_numpy(zero_copy_only=False))
    width = len(names) + int(constant)
    size = _block_rows(width)
    whole, rest = divmod(batch.num_rows, size)
    first = 0
    for count, length in ((whole, size), (1, rest)):
        blocks = np.empty((count, width, length), dtype=np.float32)
        last = first + count * length
        # One copy for all blocks: short ones would wait for the interpreter, which others use too.
        with np.errstate(over="ignore"):
            for j, values in enumerate(arrays):
                blocks[:, j] = values[first:last].reshape(count, length)
        blocks[:, len(names) :] = 1.0
        if not all_finite(blocks):
            _refuse(arrays, file, rows, names)
        yield from (block.T for block in blocks if length)
        first = last


def _refuse(arrays: list[Any], file: Path, rows: Any, names: list[str]) -> None:
    """Name the first value that is not finite in single precision."""
    for name, values in zip(names, arrays, strict=True):
        with np.errstate(over="ignore"):
            bad = np.flatnonzero(~np.isfinite(values.astype(np.float32)))
        if len(bad):
            raise unusable(file, name, int(rows[bad[0]]), values[bad[0]])


def _block_rows(width: int) -> int:
    return max(1, BLOCK // width)
