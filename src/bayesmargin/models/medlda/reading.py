"""Documents and labels as users pass them, checked and told what is wrong with them."""

from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d, validate_data

from bayesmargin.inputs import plain_labels, require_numbers
from bayesmargin.models.medlda.documents import (
    Documents,
    check_counts,
    refuse_text,
    refuse_wordless,
    to_documents,
)
from bayesmargin.models.medlda.labels import refuse_label_lists

COUNT = "count them in a column each, for instance with CountVectorizer, or leave it out"


def read_counts(estimator: Any, X: Any) -> sp.csr_matrix:
    """Checked word counts of new documents."""
    name = type(estimator).__name__
    refuse_text(X, name)
    require_numbers(X, COUNT)
    X = validate_data(estimator, X, accept_sparse="csr", dtype="numeric", reset=False)
    return check_counts(X, name)


def read_training(estimator: Any, X: Any, y: Any, reset: bool = True) -> tuple[Documents, Any]:
    """Words of the documents to learn from, and their labels.

    There is a word at least, but for further documents of a stream.
    """
    name = type(estimator).__name__
    refuse_text(X, name)
    refuse_label_lists(y)
    require_numbers(X, COUNT)
    y = plain_labels(y)
    X, y = validate_data(
        estimator, X, y, accept_sparse="csr", dtype="numeric", multi_output=True, reset=reset
    )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    counts = check_counts(X, name)
    if reset:
        refuse_wordless(counts.shape[0], counts.data.sum() > 0)
    return to_documents(counts), y
