"""Preparation of documents: scikit-learn's word counts, with settings and vocabulary as JSON."""

import re
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.preparation import Preparation
from bayesmargin.tables.table import Table, count

SETTINGS: dict[str, Any] = {
    "lowercase": True,
    "strip_accents": None,
    "stop_words": "english",
    "token_pattern": r"(?u)\b[^\W\d_]{2,}\b",
    "ngram_range": [1, 1],
    "analyzer": "word",
    "min_df": 2,
    "max_df": 0.5,
    "max_features": None,
    "binary": False,
}


class TextPreparation(Preparation):
    """Count the words of documents; optionally weigh them by how rare they are.

    Parameters
    ----------
    weighting : {"counts", "tfidf"}
        Counts for topic models; for linear models ``(1 + log count) * idf``, rows of length one.
    **settings
        Settings of scikit-learn's ``CountVectorizer`` (those in ``SETTINGS``).

    Examples
    --------
    >>> from bayesmargin.tables import Table, TextPreparation
    >>> pages = Table("text", ["red roses", "red tulips", "blue tulips"])
    >>> words = TextPreparation(min_df=1, max_df=1.0).fit(pages)
    >>> words.feature_names
    ['blue', 'red', 'roses', 'tulips']
    """

    kind = "text"

    def __init__(self, weighting: str = "counts", **settings: Any) -> None:
        unknown = sorted(set(settings) - set(SETTINGS))
        if unknown:
            raise DataError(
                f"{unknown[0]!r} is not a setting of the vectorizer; there are "
                f"{', '.join(SETTINGS)}"
            )
        if weighting not in ("counts", "tfidf"):
            raise DataError(f"weighting {weighting!r} is not known: choose counts or tfidf")
        self.weighting = weighting
        self.settings = {**SETTINGS, **settings}
        self.vocabulary: list[str] = []
        self.rarity: Any = None
        self.remarks: list[str] = []
        self._check_values()

    def _check_values(self) -> None:
        """Refuse values that scikit-learn's vectorizer would refuse once it has documents."""
        try:
            vectorizer = self._vectorizer()
            vectorizer._validate_params()
            vectorizer.build_analyzer()
        except (ValueError, TypeError, re.error) as error:
            raise DataError(f"the settings of the vectorizer cannot be used: {error}") from error

    def _vectorizer(self, vocabulary: Any = None) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer

        settings = {**self.settings, "ngram_range": tuple(self.settings["ngram_range"])}
        return CountVectorizer(vocabulary=vocabulary, dtype=np.float64, **settings)

    def fit(self, table: Table) -> "TextPreparation":
        """Learn the vocabulary, and how rare its words are."""
        vectorizer = self._vectorizer()
        try:
            counts = vectorizer.fit_transform(_documents(table))
        except ValueError as error:
            raise DataError(
                f"no vocabulary could be made from {table.source}: {error} (see --vectorizer "
                "min_df=1, max_df=1.0, stop_words=null)"
            ) from error
        self.vocabulary = vectorizer.get_feature_names_out().tolist()
        if self.weighting == "tfidf":
            containing = np.diff(counts.tocsc().indptr)
            self.rarity = np.log((1.0 + counts.shape[0]) / (1.0 + containing)) + 1.0
        self.remarks = _empty_documents(counts)
        return self

    def transform(self, table: Table, remarks: list[str] | None = None) -> Any:
        """CSR matrix of counts or weights."""
        place = {word: j for j, word in enumerate(self.vocabulary)}
        counts = self._vectorizer(place).transform(_documents(table)).tocsr()
        if remarks is not None:
            remarks += _empty_documents(counts)
        if self.rarity is None:
            return counts
        counts.data = (1.0 + np.log(counts.data)) * self.rarity[counts.indices]
        length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        counts.data /= np.repeat(np.where(length > 0.0, length, 1.0), np.diff(counts.indptr))
        return counts

    @property
    def feature_names(self) -> list[str]:
        """The vocabulary."""
        return self.vocabulary

    def summary(self) -> dict[str, Any]:
        """What was done."""
        return {"features": len(self.vocabulary), "weighting": self.weighting, **self.settings}

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "kind": self.kind,
            "weighting": self.weighting,
            "settings": self.settings,
            "vocabulary": self.vocabulary,
            "rarity": None if self.rarity is None else self.rarity.tolist(),
        }

    @classmethod
    def restore(cls, stored: dict[str, Any]) -> "TextPreparation":
        """The preparation that :meth:`to_json` described."""
        made = cls(stored["weighting"], **stored["settings"])
        made.vocabulary = [str(word) for word in stored["vocabulary"]]
        if stored["rarity"] is not None:
            made.rarity = np.array(stored["rarity"], dtype=float)
        return made


def _documents(table: Table) -> list[str]:
    if table.kind != "text":
        raise DataError(
            f"{table.source} holds {table.kind}, but the model reads documents: name their column "
            "with --text, or pass a text file or a folder"
        )
    return table.data


def _empty_documents(counts: Any) -> list[str]:
    empty = int((np.diff(counts.tocsr().indptr) == 0).sum())
    return [f"{count(empty, 'document')} without a known word"] if empty else []
