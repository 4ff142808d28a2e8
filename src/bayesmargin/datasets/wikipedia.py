"""The Wikipedia sample: multi-label word counts."""

from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import (
    DataHome,
    Subset,
    answer,
    check_subset,
    every_fifth,
    loader,
)
from bayesmargin.datasets.cache import cached
from bayesmargin.datasets.formats import count_matrix, read_gml
from bayesmargin.datasets.home import locate

_N_CATEGORIES = 20


@loader
def fetch_wikipedia(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the Wikipedia sample: 5,000 documents, 34,007 words (CSR counts), 20 categories.

    A document has one to seven categories; ``target`` is a 0/1 indicator matrix. Only the 5,000
    documents of the original test part are public. They have no split: every fifth document (the
    5th, 10th, ...) is a test document, which gives 4,000 and 1,000.

    The word ids of the file go up to 2,085,161. Columns are the ids that occur in any of the 5,000
    documents, in increasing order, so they are the same for every ``subset``.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``feature_names`` (the word ids as text; there is no
        vocabulary), ``word_ids`` (as numbers), ``DESCR``.

    Examples
    --------
    >>> from bayesmargin.datasets import available, fetch_wikipedia
    >>> if available("wikipedia"):
    ...     assert fetch_wikipedia(subset="test").target.shape == (1000, 20)
    """
    check_subset(subset)
    path = locate("wikipedia", "all", data_home, download_if_missing)
    arrays = cached(path, "multi-label", lambda: read_gml(path, _N_CATEGORIES, multi_label=True))
    word_ids, columns = np.unique(arrays["words"], return_inverse=True)
    counts = count_matrix({**arrays, "words": columns}, word_ids.size)
    rows = every_fifth(counts.shape[0], subset)
    description = (
        "The test part of the 20-category, multi-label Wikipedia set published with the BayesPA "
        "code (Shi and Zhu, ICML 2014). Every fifth document is a test document."
    )
    return answer(
        return_X_y,
        counts[rows],
        np.asarray(arrays["target"])[rows],
        target_names=[f"category {label}" for label in range(_N_CATEGORIES)],
        feature_names=word_ids.astype(str),
        word_ids=word_ids,
        DESCR=description,
    )
