"""Sets of documents as text, one document a line of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import (
    DataHome,
    Subset,
    answer,
    check_subset,
    every_fifth,
    loader,
    parts_of,
)
from bayesmargin.datasets.formats import DataFormatError, read_table
from bayesmargin.datasets.home import locate
from bayesmargin.foundation.types import IntArray

_DBPEDIA_CLASSES = (
    *("company", "school", "artist", "athlete", "office holder", "transport", "building"),
    *("natural place", "village", "animal", "plant", "album", "film", "written work"),
)
_STACKOVERFLOW_TAGS = (
    *("wordpress", "oracle", "svn", "apache", "excel", "matlab", "visual-studio", "cocoa", "osx"),
    *("bash", "spring", "hibernate", "scala", "sharepoint", "ajax", "qt", "drupal", "linq"),
    *("haskell", "magento"),
)
_DEBIAN_SECTIONS = (
    *("admin", "devel", "doc", "games", "gnu-r", "golang", "haskell", "java", "javascript"),
    *("libdevel", "libs", "net", "perl", "python", "ruby", "rust", "science", "text", "utils"),
    "x11",
)
_WEBKB_CLASSES = ("course", "faculty", "project", "student")


class _Rows:
    """Rows of several tables, each remembering where it stands for the sake of error messages."""

    def __init__(self, paths: Sequence[Path], n_columns: int) -> None:
        self.places: list[tuple[Path, int]] = []
        self.fields: list[list[str]] = []
        for path in paths:
            rows = read_table(path, n_columns)
            self.places.extend((path, line) for line in range(1, len(rows) + 1))
            self.fields.extend(rows)

    def column(self, index: int) -> list[str]:
        return [row[index] for row in self.fields]

    def codes(self, index: int, labels: Sequence[str]) -> IntArray:
        """Positions in ``labels`` of the entries of a column."""
        position = {label: code for code, label in enumerate(labels)}
        target = np.empty(len(self.fields), dtype=np.int64)
        for row, label in enumerate(self.column(index)):
            if label not in position:
                allowed = ", ".join(labels)
                raise DataFormatError(*self.places[row], f"label {label!r} is not in: {allowed}")
            target[row] = position[label]
        return target


def _numbers(start: int, count: int) -> list[str]:
    return [str(number) for number in range(start, start + count)]


def _chosen(values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [values[row] for row in rows]


@loader
def fetch_imdb(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load IMDB: 25,000 training and 25,000 test film reviews as text, negative 0, positive 1.

    The files hold the negative reviews first, then the positive ones: shuffle.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``stars`` (1 to 10), ``DESCR``.
    """
    paths = [locate("imdb", part, data_home, download_if_missing) for part in parts_of(subset)]
    rows = _Rows(paths, 3)
    description = (
        "Large Movie Review Dataset v1.0 (Maas et al., ACL 2011), the labelled reviews; tabs and "
        "line ends inside a review became blanks."
    )
    return answer(
        return_X_y,
        rows.column(2),
        rows.codes(0, ["0", "1"]),
        target_names=["negative", "positive"],
        stars=rows.codes(1, _numbers(1, 10)) + 1,
        DESCR=description,
    )


@loader
def fetch_debian_sections(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load Debian package descriptions: 39,731 and 10,149 texts, 20 archive sections.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``packages``, ``DESCR``.
    """
    parts = parts_of(subset)
    paths = [locate("debian_sections", part, data_home, download_if_missing) for part in parts]
    rows = _Rows(paths, 3)
    description = (
        "Descriptions of the packages of Debian 12 main (amd64), the 20 largest sections; packages "
        "of one source are all in the same part. Not a published benchmark."
    )
    return answer(
        return_X_y,
        rows.column(2),
        rows.codes(0, _DEBIAN_SECTIONS),
        target_names=list(_DEBIAN_SECTIONS),
        packages=rows.column(1),
        DESCR=description,
    )


@loader
def fetch_dblp(
    *,
    subset: str = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load DBLP titles: 38,215 training and 8,190 test titles as words, 4 research areas.

    ``subset="validation"`` gives the 8,190 titles of the set's validation part; "all" holds the
    three parts in this order: training, validation, test.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``DESCR``.
    """
    check_subset(subset, ("train", "validation", "test", "all"))
    rows = _Rows([locate("dblp", "all", data_home, download_if_missing)], 3)
    stored = ["train", "val", "test"]
    part = rows.codes(1, stored)
    wanted = {"train": [0], "validation": [1], "test": [2], "all": [0, 1, 2]}[subset]
    chosen = np.concatenate([np.flatnonzero(part == code) for code in wanted])
    description = (
        "DBLP titles (Pan et al., 2016) as preprocessed for OCTIS: lemmatised, stop words removed, "
        "1,513 words; target_names are the labels of the file."
    )
    return answer(
        return_X_y,
        _chosen(rows.column(0), chosen.tolist()),
        rows.codes(2, _numbers(0, 4))[chosen],
        target_names=_numbers(0, 4),
        DESCR=description,
    )


def _without_split(
    name: str,
    labels: Sequence[str],
    target_names: Sequence[str],
    description: str,
    subset: str,
    data_home: DataHome,
    download_if_missing: bool,
    return_X_y: bool,
) -> Any:
    """Load a table (label, text) that has no split: every fifth row is a test row."""
    check_subset(subset)
    rows = _Rows([locate(name, "all", data_home, download_if_missing)], 2)
    chosen = np.flatnonzero(every_fifth(len(rows.fields), subset))
    return answer(
        return_X_y,
        _chosen(rows.column(1), chosen.tolist()),
        rows.codes(0, labels)[chosen],
        target_names=list(target_names),
        DESCR=f"{description} Every fifth row is a test row.",
    )


@loader
def fetch_dbpedia14(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load DBpedia-14: 14,000 abstracts as text, 1,000 of each of 14 classes.

    The set has no split of its own: every fifth row (the 5th, 10th, ...) is a test row.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``DESCR``.
    """
    description = (
        "14,000 Wikipedia abstracts from DBpedia-14 (Zhang, Zhao and LeCun, 2015; CC BY-SA 3.0)."
    )
    args = (subset, data_home, download_if_missing, return_X_y)
    return _without_split("dbpedia14", _numbers(0, 14), _DBPEDIA_CLASSES, description, *args)


@loader
def fetch_stackoverflow(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load Stack Overflow titles: 16,407 question titles as words, 20 tags.

    Label 1 of the file is class 0. The set has no split of its own: every fifth row (the 5th,
    10th, ...) is a test row.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``DESCR``.
    """
    description = "Stack Overflow question titles (Xu et al., 2015), preprocessed by STTM."
    args = (subset, data_home, download_if_missing, return_X_y)
    return _without_split("stackoverflow", _numbers(1, 20), _STACKOVERFLOW_TAGS, description, *args)


@loader
def fetch_webkb(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load WebKB: 2,803 training and 1,396 test web pages as stemmed words, 4 classes.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target``, ``target_names``, ``DESCR``.
    """
    paths = [locate("webkb", part, data_home, download_if_missing) for part in parts_of(subset)]
    rows = _Rows(paths, 2)
    return answer(
        return_X_y,
        rows.column(1),
        rows.codes(0, _WEBKB_CLASSES),
        target_names=list(_WEBKB_CLASSES),
        DESCR="WebKB (Craven et al., 1998), stemmed version of A. Cardoso-Cachopo.",
    )
