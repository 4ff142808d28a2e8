"""Documents and labels as users pass them, checked and told what is wrong with them."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d, validate_data

from bayesmargin.errors import ScalingWarning
from bayesmargin.inputs.checks import plain_labels, require_numbers
from bayesmargin.models.medlda.documents import (
    Documents,
    check_counts,
    largest_count,
    refuse_text,
    refuse_wordless,
    to_documents,
)
from bayesmargin.models.medlda.labels import refuse_label_lists

# Words repeat themselves a few times in a document, also in long ones. Larger counts than this on
# average are measurements, and of so many words in all they take minutes at least.
USUAL_COUNT, MANY_WORDS = 100, 1_000_000
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
    _warn_if_measured(counts, getattr(estimator, "feature_names_in_", None))
    return to_documents(counts), y


def _warn_if_measured(counts: sp.csr_matrix, names: Any) -> None:
    """Say that values look like measurements: every unit is sampled as a word of its own."""
    total = int(counts.data.sum(dtype=float))
    if total < MANY_WORDS or total < USUAL_COUNT * np.count_nonzero(counts.data):
        return
    count, word, document = largest_count(counts)
    name = word if names is None else repr(names[word])
    warnings.warn(
        f"X holds {total:,} words, each of which is sampled many times: word {name} is "
        f"{count:,.0f} in document {document} (counted from 0). If its values are measurements and "
        "not word counts, use BayesianLinearSVC, or make words of their ranges (KBinsDiscretizer); "
        "if they are counts, divide them to save time, as in np.ceil(X / 100)",
        ScalingWarning,
        stacklevel=4,
    )
