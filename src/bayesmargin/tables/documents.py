"""Documents: one a line of a text file, or one a file in a folder for each class."""

import lzma
import os
import zlib
from pathlib import Path

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.compressed import open_bytes
from bayesmargin.tables.labels import whole_numbers
from bayesmargin.tables.table import Table, count
from bayesmargin.tables.text import decoded, split_lines


def read_lines(path: Path, label_first: bool, labelled: bool) -> Table:
    """One document a line; with ``label_first`` a line is a label, a tab and the document."""
    try:
        with open_bytes(path) as file:
            lines = split_lines(_decoded(file.read(), path))
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if not label_first:
        return Table("text", lines, source=str(path))
    labels, texts = [], []
    for number, line in enumerate(lines, start=1):
        label, tab, text = line.partition("\t")
        if not tab:
            if not labelled:
                return Table("text", lines, source=str(path))
            raise DataError(
                f"line {number} of {path} has no tab: --label-first expects a label, a tab and "
                "the document"
            )
        if not label.strip():
            raise DataError(f"line {number} of {path} has no label before the tab")
        labels.append(label.strip())
        texts.append(text)
    return Table("text", texts, whole_numbers(labels), source=str(path))


def read_class_folders(path: Path, labelled: bool) -> Table:
    """A folder whose folders are classes and whose files are documents, in the order of names.

    Where labels are not needed, a folder of files without classes is read too.
    """
    classes = sorted(item for item in path.iterdir() if item.is_dir() and _visible(item))
    if not classes:
        if labelled:
            raise DataError(
                f"{path} holds no folders: a folder of documents for each class is needed (or "
                "Parquet files)"
            )
        files = sorted(item for item in path.iterdir() if item.is_file() and _visible(item))
        names = [_legible(file.name) for file in files]
        return Table("text", _texts(files), None, names, "file", str(path))
    files, labels = [], []
    for folder in classes:
        inside = sorted(item for item in folder.rglob("*") if item.is_file() and _visible(item))
        if not inside and labelled:
            raise DataError(f"the class folder {folder} holds no documents")
        files += inside
        labels += [_legible(folder.name)] * len(inside)
    names = [_legible(file.relative_to(path).as_posix()) for file in files]
    return Table("text", _texts(files), np.array(labels), names, "file", str(path))


def _texts(files: list[Path]) -> list[str]:
    texts = []
    for file in files:
        try:
            texts.append(_decoded(file.read_bytes(), file))
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error}") from error
    if not any(text.strip() for text in texts):
        raise DataError(f"all {count(len(texts), 'document')} are empty")
    return texts


def _decoded(content: bytes, path: Path) -> str:
    """Unicode, or else Latin-1, which is what old archives of mail hold; other files are refused.

    Every sequence of bytes is Latin-1, but text holds no zeros.
    """
    try:
        return decoded(content)
    except UnicodeDecodeError as error:
        if b"\0" not in content:
            return content.decode("latin-1")
        hint = " (Parquet files are read from one folder, without folders in it)"
        hint = hint if content.startswith(b"PAR1") else ""
        raise DataError(
            f"{path} is not text: it holds zero bytes{hint}; leave it out, or put its text there"
        ) from error


def _legible(name: str) -> str:
    """The name of a file as text: bytes that are not UTF-8 are Latin-1, like those in files."""
    raw = os.fsencode(name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _visible(path: Path) -> bool:
    return not path.name.startswith(".")
