"""From word counts to words: validation, the token arrays of the kernels, token lists."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import murmurhash3_32
from sklearn.utils.validation import check_is_fitted

from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.types import IntArray

LARGEST_COUNT = 2**31 - 1


class Documents(NamedTuple):
    """Documents as one array of word numbers, sorted within a document, and where each starts."""

    words: IntArray
    offsets: IntArray

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return self.offsets.shape[0] - 1

    @property
    def lengths(self) -> IntArray:
        """Number of words of each document."""
        return np.diff(self.offsets)


def to_documents(counts: sp.csr_matrix) -> Documents:
    """Spell out a matrix of counts (documents x vocabulary) as words.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from bayesmargin.models.medlda.documents import to_documents
    >>> to_documents(sp.csr_matrix([[0, 2, 1], [1, 0, 0]])).words
    array([1, 1, 2, 0], dtype=int32)
    """
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    repeats = counts.data.astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(repeats)])
    try:
        words = np.repeat(counts.indices.astype(np.int32), repeats)
    except MemoryError as error:
        raise MemoryError(
            f"X holds {ends[-1]:,} words, which take {4e-9 * ends[-1]:,.1f} GB at least: pass "
            "fewer documents at a time, or mend X if its values are no word counts"
        ) from error
    return Documents(words, ends[counts.indptr].astype(np.int64))


def keep_words(documents: Documents, known: np.ndarray) -> Documents:
    """The documents without words that are not ``known`` (mask over the vocabulary).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.documents import Documents, keep_words
    >>> documents = Documents(np.array([0, 2, 1]), np.array([0, 2, 3]))
    >>> keep_words(documents, np.array([True, False, True]))
    Documents(words=array([0, 2]), offsets=array([0, 2, 2]))
    """
    kept = known[documents.words]
    if kept.all():
        return documents
    ends = np.concatenate([[0], np.cumsum(kept)])
    return Documents(documents.words[kept], ends[documents.offsets])


def join(*parts: Documents) -> Documents:
    """The documents of several corpora, one after the other."""
    lengths = np.concatenate([part.lengths for part in parts])
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Documents(np.concatenate([part.words for part in parts]), ends)


def select(documents: Any, chosen: IntArray) -> Any:
    """The chosen documents as a corpus of their own."""
    if not isinstance(documents, Documents):
        return documents.select(chosen)  # documents on a cluster stay there
    parts = [documents.words[documents.offsets[d] : documents.offsets[d + 1]] for d in chosen]
    words = np.concatenate(parts) if parts else documents.words[:0]
    ends = np.concatenate([[0], np.cumsum(documents.lengths[chosen])]).astype(np.int64)
    return Documents(words, ends)


def shorten(documents: Documents, rng: np.random.Generator) -> Documents:
    """The documents cut to some of their words at random, their number even in the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.documents import Documents, shorten
    >>> cut = shorten(Documents(np.arange(40), np.array([0, 40, 40])), np.random.default_rng(0))
    >>> cut.lengths
    array([10,  0])
    """
    lengths = documents.lengths
    kept = np.floor((lengths + 1.0) ** rng.random(len(lengths))).astype(np.int64)
    kept = np.minimum(kept, lengths)
    parts = [
        np.sort(rng.permutation(documents.words[first : first + length])[:size])
        for first, length, size in zip(documents.offsets[:-1], lengths, kept, strict=True)
    ]
    ends = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    return Documents(np.concatenate([documents.words[:0], *parts]), ends)


def refuse_text(X: Any, estimator_name: str) -> None:
    """Say how to count words when documents come as text or as lists of tokens."""
    if len(getattr(X, "shape", ())) > 1:
        return
    texts = (item for item in (X if isinstance(X, Iterable) else ()) if _may_be_text(item))
    first = next(texts, "")
    kind, counter = "text", "CountVectorizer()"
    if not isinstance(first, str):
        kind, counter, first = "lists of tokens", "TokenCounter()", first[0]
    if first and isinstance(first, str):
        raise ValueError(
            f"{estimator_name} needs word counts (documents x vocabulary), but X holds {kind}: put "
            f"{counter} before it, as in make_pipeline({counter}, {estimator_name}())"
        )


def _may_be_text(item: Any) -> bool:
    """Whether an item can be a document; some are missing, or have no token."""
    return isinstance(item, str | list | tuple) and len(item) > 0


def refuse_wordless(n_documents: int, has_words: bool) -> None:
    """Refuse documents that have no word between them."""
    if not has_words:
        raise ValueError(
            f"all {n_documents} documents of X are empty: there is no word to learn from"
        )


def check_counts(counts: Any, estimator_name: str) -> sp.csr_matrix:
    """Refuse what cannot be a matrix of word counts; return CSR with integer-valued entries."""
    matrix = counts if sp.issparse(counts) else sp.csr_matrix(counts)
    matrix = sp.csr_matrix(matrix)
    if matrix.data.size == 0:
        return matrix
    lowest = matrix.data.min()
    if lowest < 0:
        raise ValueError(
            f"Negative values in data passed to {estimator_name}: X holds {lowest!s}, but word "
            "counts are 0 or more"
        )
    fractional = matrix.data != np.floor(matrix.data)
    if fractional.any():
        value = matrix.data[np.argmax(fractional)]
        raise ValueError(
            f"{estimator_name} needs word counts, but X holds the fraction {value:.4g}. Pass the "
            "counts themselves (CountVectorizer), not tf-idf or other weights"
        )
    if matrix.data.max() > LARGEST_COUNT:
        count, word, document = largest_count(matrix)
        raise ValueError(
            f"X holds the count {count:g} of word {word} in document {document} (both counted from "
            "0): no document is that long, and every word takes memory; mend the value"
        )
    return matrix


def largest_count(matrix: sp.csr_matrix) -> tuple[float, int, int]:
    """The largest count of a matrix, with the numbers of its word and of its document.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from bayesmargin.models.medlda.documents import largest_count
    >>> largest_count(sp.csr_matrix([[0, 2, 1], [1, 0, 5]]))
    (5.0, 2, 1)
    """
    place = int(matrix.data.argmax())
    document = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    return float(matrix.data[place]), int(matrix.indices[place]), document


class TokenCounter(TransformerMixin, BaseEstimator):
    """Counts for documents that come as lists of tokens, with a learned or a hashed vocabulary.

    For raw text use scikit-learn's ``CountVectorizer``; this is for corpora that are tokenised
    already. With ``n_features`` every token is hashed to one of that many columns: nothing is
    learned, so that a stream can go through it, and new tokens always have a place.

    Parameters
    ----------
    n_features : int or None, default=None
        Number of hashed columns; None learns a vocabulary in ``fit``.
    min_documents : int, default=1
        Tokens of fewer documents are left out of a learned vocabulary.

    Attributes
    ----------
    vocabulary_ : ndarray of str
        The learned tokens in the order of the columns (not with ``n_features``).

    Examples
    --------
    >>> from bayesmargin.models.medlda import TokenCounter
    >>> TokenCounter().fit_transform([["star", "moon", "star"], ["moon"]]).toarray()
    array([[1, 2],
           [1, 0]])
    """

    def __init__(self, n_features: int | None = None, min_documents: int = 1) -> None:
        self.n_features = n_features
        self.min_documents = min_documents

    def fit(self, documents: Iterable[Sequence[str]], y: Any = None) -> "TokenCounter":
        """Learn the vocabulary (nothing to learn when it is hashed)."""
        if self._hashed_columns() is not None:
            return self
        require_count("min_documents", self.min_documents, 1)
        seen: dict[str, int] = {}
        for document in _token_lists(documents):
            for token in set(document):
                seen[token] = seen.get(token, 0) + 1
        kept = sorted(token for token, count in seen.items() if count >= self.min_documents)
        if not kept:
            why = "the documents are empty"
            if seen:
                most = max(seen.values())
                why = f"none is in min_documents={self.min_documents} documents, {most} at most"
            raise ValueError(f"no token is left for the vocabulary: {why}")
        self.vocabulary_ = np.array(kept, dtype=object)
        self._columns = {token: column for column, token in enumerate(kept)}
        return self

    def fit_transform(self, documents: Iterable[Sequence[str]], y: Any = None) -> sp.csr_matrix:
        """Learn the vocabulary and count; documents that can be read only once are kept for it."""
        if self.n_features is None:
            documents = list(documents)
        return self.fit(documents, y).transform(documents)

    def _hashed_columns(self) -> int | None:
        """Number of hashed columns, or None for a learned vocabulary."""
        if self.n_features is not None:
            require_count("n_features", self.n_features, 1)
        return self.n_features

    def transform(self, documents: Iterable[Sequence[str]]) -> sp.csr_matrix:
        """Counts (documents x vocabulary) as a CSR matrix; unknown tokens are ignored."""
        hashed = self._hashed_columns()
        if hashed is None:
            check_is_fitted(self, "vocabulary_")
        columns: list[int] = []
        ends = [0]
        for document in _token_lists(documents):
            if hashed is None:
                known = (self._columns.get(token, -1) for token in document)
                columns.extend(column for column in known if column >= 0)
            else:
                columns.extend(murmurhash3_32(token, positive=True) % hashed for token in document)
            ends.append(len(columns))
        width = hashed if hashed is not None else len(self.vocabulary_)
        ones = np.ones(len(columns), dtype=np.int64)
        matrix = sp.csr_matrix((ones, columns, ends), shape=(len(ends) - 1, width))
        matrix.sum_duplicates()
        return matrix

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Tokens in the order of the columns; for hashed columns, their numbers."""
        if self.n_features is not None:
            return np.array([f"hash{j}" for j in range(self.n_features)], dtype=object)
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_

    def __sklearn_is_fitted__(self) -> bool:
        return self.n_features is not None or hasattr(self, "vocabulary_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = self.n_features is None
        return tags


def _token_lists(documents: Iterable[Sequence[str]]) -> Iterable[Sequence[str]]:
    for number, document in enumerate(documents):
        if isinstance(document, str):
            raise ValueError(
                "a document must be a list of tokens, but a string came: split it first, or use "
                "scikit-learn's CountVectorizer for raw text"
            )
        if not isinstance(document, Iterable):
            raise ValueError(
                f"document {number} (from 0) is {document!r} and no list of tokens: leave it out, "
                "or give an empty list"
            )
        yield document
