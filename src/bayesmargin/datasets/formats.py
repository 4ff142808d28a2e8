"""Readers of the file formats: svmlight, GML word lists, tables; each error names file and line."""

import gzip
import lzma
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesmargin.datasets.cache import Arrays
from bayesmargin.foundation.compressed import open_bytes


class DataFormatError(ValueError):
    """A data file does not have the form it should; the message names the file and the line."""

    def __init__(self, path: Path, line: int | None, problem: str) -> None:
        place = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed according to its suffix."""
    try:
        with open_bytes(path) as stream:
            yield stream
    except (lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise _damaged(path, error) from error
    except OSError as error:
        # bz2 reports damage as an OSError without an errno; a real one is the system's business.
        if error.errno is not None:
            raise
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataFormatError:
    problem = f"damaged or cut short ({error}); delete it and fetch it again"
    return DataFormatError(path, None, problem)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a UTF-8 text file without their line ends."""
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise DataFormatError(path, number, f"not UTF-8 text ({error})") from None


def read_svmlight(path: Path, n_features: int, labels: Collection[int]) -> Arrays:
    """Read ``label index:value ...`` lines, indices from 1; arrays of a CSR matrix and ``target``.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    n_features : int
        Columns of the matrix. A test part may not use the last ones, so a file cannot tell.
    labels : collection of int
        The labels allowed.
    """
    from scipy.sparse import csr_matrix

    from bayesmargin.rows.svmlight_text import read_lines

    with opened(path) as stream:
        text = stream.read()
    try:
        rows = read_lines(text)
        allowed = bool(np.isin(rows.labels, list(labels)).all())
        if not allowed or rows.columns.max(initial=0) >= n_features:
            raise ValueError("a label or an index is not allowed")
    except ValueError as error:
        # Labels and width are of this set: read again slowly, only to find the line.
        for number, line in lines(path):
            problem = _svmlight_problem(line, n_features, labels)
            if problem is not None:
                raise DataFormatError(path, number, problem) from error
        raise DataFormatError(path, None, str(error)) from error
    parts = (rows.values, rows.columns, rows.bounds)
    matrix = csr_matrix(parts, shape=(len(rows.labels), n_features))
    return {**csr_arrays(matrix), "target": rows.labels.astype(np.int64)}


def _svmlight_problem(line: str, n_features: int, labels: Collection[int]) -> str | None:
    """Say what is wrong with one line, or None."""
    fields = line.split("#", 1)[0].split()
    if not fields:
        return None
    try:
        if float(fields[0]) not in labels:
            return f"label {fields[0]!r} is not one of {sorted(labels)}"
    except ValueError:
        return f"label {fields[0]!r} is not a number"
    last = 0
    for field in fields[1:]:
        index, colon, value = field.partition(":")
        try:
            column, finite = int(index), bool(np.isfinite(float(value)))
        except ValueError:
            return f"{field!r} is not index:value"
        if not colon or not finite:
            return f"{field!r} is not index:value with a finite value"
        if not last < column <= n_features:
            return f"index {column} is not between {last + 1} and {n_features} (they must increase)"
        last = column
    return None


def read_gml(path: Path, n_labels: int, *, multi_label: bool) -> Arrays:
    """Read word lists: a count of documents, then ``n_tokens [n_labels] labels tokens`` each.

    Returns the arrays ``words`` (every token of every document, in order), ``lengths`` (tokens a
    document) and ``target`` (one label a document, or 0/1 indicators when ``multi_label``).
    """
    numbered = lines(path)
    _, first = next(numbered, (0, ""))
    if not first.strip().isdigit():
        raise DataFormatError(path, 1, f"{first!r} is not the number of documents")
    expected = int(first)
    words: list[int] = []
    lengths: list[int] = []
    target: list[list[int]] = []
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            labels, tokens = _gml_fields([int(field) for field in line.split()], multi_label)
        except ValueError as error:
            raise DataFormatError(path, number, str(error)) from None
        wrong = [label for label in labels if not 0 <= label < n_labels]
        if wrong:
            raise DataFormatError(path, number, f"label {wrong[0]} is not in 0..{n_labels - 1}")
        if tokens and min(tokens) < 0:
            raise DataFormatError(path, number, f"word id {min(tokens)} is negative")
        words.extend(tokens)
        lengths.append(len(tokens))
        target.append(labels)
    if len(target) != expected:
        problem = f"the first line announces {expected} documents, there are {len(target)}"
        raise DataFormatError(path, None, problem)
    indicators = np.zeros((expected, n_labels), dtype=np.int64)
    for row, labels in enumerate(target):
        indicators[row, labels] = 1
    return {
        "words": np.array(words, dtype=np.int64),
        "lengths": np.array(lengths, dtype=np.int64),
        "target": indicators if multi_label else indicators.argmax(axis=1),
    }


def _gml_fields(numbers: list[int], multi_label: bool) -> tuple[list[int], list[int]]:
    """Split one line into labels and tokens, and check the counts it states."""
    if len(numbers) < 2:
        raise ValueError("fewer than two numbers")
    start = 2 if multi_label else 1
    end = start + (numbers[1] if multi_label else 1)
    labels, tokens = numbers[start:end], numbers[end:]
    if not labels or len(labels) != end - start:
        raise ValueError(f"{end - start} labels announced, {len(labels)} given")
    if len(tokens) != numbers[0]:
        raise ValueError(f"{numbers[0]} tokens announced, {len(tokens)} given")
    return labels, tokens


def read_table(path: Path, n_columns: int, delimiter: str = "\t") -> list[list[str]]:
    """Read a text table without quoting: one list of strings a row."""
    rows = []
    for number, line in lines(path):
        fields = line.split(delimiter)
        if len(fields) != n_columns:
            problem = f"{len(fields)} columns separated by {delimiter!r}, {n_columns} expected"
            raise DataFormatError(path, number, problem)
        rows.append(fields)
    return rows


def read_numbers(path: Path, header: Sequence[str], block: int = 100_000) -> Arrays:
    """Read a comma-separated table of finite numbers; a first line equal to ``header`` is skipped.

    The table is read in blocks of lines, so that the text of a large file is never held whole.
    """
    blocks = []
    with opened(path) as stream:
        offset = 1
        while chunk := list(islice(stream, block)):
            skip = offset == 1 and chunk[0].decode("utf-8").strip().split(",") == list(header)
            rows = chunk[1:] if skip else chunk
            if rows:
                blocks.append(_number_block(path, rows, offset + skip, len(header)))
            offset += len(chunk)
    return {"table": np.concatenate(blocks) if blocks else np.empty((0, len(header)))}


def _number_block(path: Path, rows: list[bytes], offset: int, n_columns: int) -> np.ndarray:
    try:
        values = np.loadtxt(rows, delimiter=",", ndmin=2, comments=None)
        if values.shape == (len(rows), n_columns) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    for number, row in enumerate(rows, start=offset):
        fields = row.decode("utf-8", errors="replace").strip().split(",")
        if len(fields) != n_columns:
            problem = f"{len(fields)} columns separated by commas, {n_columns} expected"
            raise DataFormatError(path, number, problem)
        for field in fields:
            if not _is_finite_number(field):
                raise DataFormatError(path, number, f"{field!r} is not a finite number")
    raise DataFormatError(path, None, "cannot be read as a table of numbers")


def _is_finite_number(field: str) -> bool:
    try:
        return bool(np.isfinite(float(field)))
    except ValueError:
        return False


def csr_arrays(matrix: Any) -> Arrays:
    """Return the arrays of a CSR matrix, indices as 32-bit integers."""
    return {
        "data": matrix.data,
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int32),
        "shape": np.array(matrix.shape, dtype=np.int64),
    }


def to_csr(arrays: Arrays) -> Any:
    """Return the CSR matrix of :func:`csr_arrays`, with 32-bit indices."""
    from scipy.sparse import csr_matrix

    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    matrix = csr_matrix(parts, shape=tuple(int(side) for side in arrays["shape"]))
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def count_matrix(arrays: Arrays, n_words: int) -> Any:
    """Return the CSR count matrix of the word lists of :func:`read_gml`."""
    from scipy.sparse import csr_matrix

    bounds = np.concatenate([[0], np.cumsum(arrays["lengths"])]).astype(np.int32)
    words = arrays["words"].astype(np.int32)
    ones = np.ones(words.size, dtype=np.int32)
    matrix = csr_matrix((ones, words, bounds), shape=(bounds.size - 1, n_words))
    matrix.sum_duplicates()
    return matrix
