"""20 Newsgroups, "bydate" version, as word counts: all groups, and the two religious ones."""

import tarfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import (
    DataHome,
    Subset,
    answer,
    loader,
    parts_of,
    stacked,
)
from bayesmargin.datasets.cache import Arrays, cached
from bayesmargin.datasets.formats import (
    DataFormatError,
    count_matrix,
    csr_arrays,
    lines,
    read_gml,
    read_svmlight,
    to_csr,
)
from bayesmargin.datasets.home import find_part, find_path, locate
from bayesmargin.datasets.newsgroups_messages import DAMAGE, GROUPS
from bayesmargin.foundation.types import IntArray

# Documents, entries that are not zero, and tokens: a download without a checksum must have these.
_SIZES = {"train": (11_269, 1_467_345, 2_765_300), "test": (7_505, 967_874, 1_796_919)}
_N_WORDS = 61_188
_STOP_WORDS_FILE = "20newsgroups/stopwords_removed_in_binary.txt"


@loader
def fetch_20newsgroups_counts(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    remove_stop_words: bool | Collection[str] = True,
) -> Any:
    """Load 20 Newsgroups as word counts: 11,269 training and 7,505 test documents, 20 classes.

    Columns are the same for every ``subset``: all 61,188 words of the vocabulary, or those that are
    left without the stop words. No row is dropped.

    Parameters
    ----------
    remove_stop_words : bool or collection of str, default=True
        True leaves out the columns of scikit-learn's ``ENGLISH_STOP_WORDS`` and, when the file
        ``stopwords_removed_in_binary.txt`` lies beside the data, of its 481 words (the words that
        the authors of MedLDA left out of their two-class version). For columns that do not depend
        on that file pass the words yourself. False keeps every column.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (CSR, 32-bit integers), ``target`` (0 to 19), ``target_names``, ``feature_names``
        (the words), ``stop_words`` (those whose columns were left out), ``DESCR``.

    Examples
    --------
    >>> from bayesmargin.datasets import available, fetch_20newsgroups_counts
    >>> if available("20newsgroups_counts"):
    ...     news = fetch_20newsgroups_counts(subset="test", remove_stop_words=False)
    ...     assert news.data.shape == (7505, 61188)
    """
    parts = parts_of(subset)
    words = _vocabulary(locate("20newsgroups_counts", "vocabulary", data_home, download_if_missing))
    loaded = []
    for part in parts:
        path = locate("20newsgroups_counts", part, data_home, download_if_missing)
        loaded.append(_counts(path, part, words.size))
    data = stacked([counts for counts, _ in loaded])
    removed = np.isin(words, list(_stop_words(remove_stop_words, data_home)))
    description = (
        '20 Newsgroups, "bydate" version (K. Lang, 1995; J. Rennie), word counts of the '
        "Matlab/Octave version. Stop words are left out as the parameter remove_stop_words says."
    )
    return answer(
        return_X_y,
        data[:, np.flatnonzero(~removed)] if removed.any() else data,
        stacked([target for _, target in loaded]),
        target_names=list(GROUPS),
        feature_names=words[~removed],
        stop_words=words[removed],
        DESCR=description,
    )


def _stop_words(wanted: bool | Collection[str], data_home: DataHome) -> set[str]:
    if isinstance(wanted, str):
        raise ValueError(
            f"remove_stop_words={wanted!r} is not allowed: pass True, False or a list of words"
        )
    if not isinstance(wanted, bool):
        return set(wanted)
    if not wanted:
        return set()
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    extra = find_path(_STOP_WORDS_FILE, data_home)
    more = set() if extra is None else {line.strip() for _, line in lines(extra)}
    return set(ENGLISH_STOP_WORDS) | more


def _vocabulary(path: Path) -> Any:
    words = [line.strip() for _, line in lines(path)]
    # The compressed copy is the user's own; the public file comes without a checksum.
    if path.suffix == ".txt" and len(words) != _N_WORDS:
        raise DataFormatError(path, None, f"{len(words)} words, {_N_WORDS} expected")
    return np.array(words)


def _counts(path: Path, part: str, n_words: int) -> tuple[Any, IntArray]:
    """Return counts and classes 0 to 19 of one part, whichever form the file has."""

    def read() -> Arrays:
        if path.suffix == ".tgz":
            return _matlab_archive(path, part, n_words)
        return read_svmlight(path, n_words, range(1, len(GROUPS) + 1))

    arrays = cached(path, f"counts {part} {n_words}", read)
    data = to_csr(arrays)
    data.data = data.data.astype(np.int32)
    return data, np.asarray(arrays["target"], dtype=np.int64) - 1


def _matlab_archive(path: Path, part: str, n_words: int) -> Arrays:
    """Read ``PART.data`` (document, word, count from 1) and ``PART.label`` of the archive."""
    from scipy.sparse import csr_matrix

    labels = _archive_table(path, f"{part}.label", 1)[:, 0]
    document, word, count = _archive_table(path, f"{part}.data", 3).T
    if labels.min() < 1 or labels.max() > len(GROUPS):
        raise DataFormatError(path, None, f"{part}.label has labels outside 1..{len(GROUPS)}")
    try:
        triples = (count, (document - 1, word - 1))
        matrix = csr_matrix(triples, shape=(labels.size, n_words))
    except ValueError as error:
        raise DataFormatError(path, None, f"{part}.data: {error}") from error
    size = (labels.size, int(matrix.nnz), int(count.sum()))
    if size != _SIZES[part]:
        problem = (
            f"documents, entries, tokens are {size}, but {_SIZES[part]} in the known {part} part"
        )
        raise DataFormatError(path, None, problem)
    return {**csr_arrays(matrix), "target": labels}


def _archive_table(path: Path, name: str, n_columns: int) -> IntArray:
    try:
        with tarfile.open(path) as archive:
            member = next((m for m in archive if Path(m.name).name == name), None)
            stream = None if member is None else archive.extractfile(member)
            if stream is None:
                raise DataFormatError(path, None, f"the archive has no file {name}")
            text = stream.readlines()
    except DAMAGE as error:
        raise DataFormatError(
            path, None, f"damaged ({error}); delete and fetch it again"
        ) from error
    for number, row in enumerate(text, start=1):
        fields = row.split()
        if len(fields) != n_columns or not all(field.isdigit() for field in fields):
            problem = (
                f"{name}: {row.decode(errors='replace').strip()!r} is not {n_columns} integers"
            )
            raise DataFormatError(path, number, problem)
    return np.loadtxt(text, dtype=np.int64, ndmin=2)


@loader
def fetch_20newsgroups_binary(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load alt.atheism (0) against talk.religion.misc (1): 856 and 569 documents as counts.

    Columns are those of the 61,188-word vocabulary; stop words were left out by the publishers.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (CSR, 32-bit integers), ``target``, ``target_names``, ``feature_names`` (the words;
        None when the vocabulary file is not in the data home), ``DESCR``.
    """
    loaded = []
    for part in parts_of(subset):
        path = locate("20newsgroups_binary", part, data_home, download_if_missing)
        loaded.append((path, _binary_words(path)))
    vocabulary = find_part("20newsgroups_counts", "vocabulary", data_home)
    words = None if vocabulary is None else _vocabulary(vocabulary)
    n_words = _N_WORDS if words is None else words.size
    for path, arrays in loaded:
        if arrays["words"].size and arrays["words"].max() >= n_words:
            problem = f"word id {arrays['words'].max()} is outside the vocabulary of {n_words}"
            raise DataFormatError(path, None, problem)
    description = (
        "Two groups of 20 Newsgroups as published with the BayesPA / online MedLDA code (Shi and "
        "Zhu, ICML 2014): classes 1 and 20 of the counts without stop words."
    )
    return answer(
        return_X_y,
        stacked([count_matrix(arrays, n_words) for _, arrays in loaded]),
        stacked([np.asarray(arrays["target"]) for _, arrays in loaded]),
        target_names=[GROUPS[0], GROUPS[19]],
        feature_names=words,
        DESCR=description,
    )


def _binary_words(path: Path) -> Arrays:
    return cached(path, "single-label", lambda: read_gml(path, 2, multi_label=False))
