"""Loaders of public data sets, in scikit-learn's ``fetch_*`` manner.

Every loader takes ``subset`` ("train", "test", "all"), ``data_home``, ``download_if_missing`` and
``return_X_y`` and returns a :class:`sklearn.utils.Bunch` with ``data``, ``target``,
``target_names``, ``DESCR`` and, where names are known, ``feature_names``.

Examples
--------
>>> from bayesmargin.datasets import available, fetch_ijcnn1
>>> if available("ijcnn1"):
...     X, y = fetch_ijcnn1(return_X_y=True)
...     assert X.shape == (49990, 22)
"""

from bayesmargin.datasets.formats import DataFormatError
from bayesmargin.datasets.home import ChecksumError, DataNotFoundError, available, data_homes
from bayesmargin.datasets.newsgroups import fetch_20newsgroups_binary, fetch_20newsgroups_counts
from bayesmargin.datasets.newsgroups_messages import fetch_20newsgroups_raw
from bayesmargin.datasets.svmlight import (
    fetch_a9a,
    fetch_ijcnn1,
    fetch_pendigits,
    fetch_realsim,
    fetch_reuters_moneyfx,
    fetch_sector,
)
from bayesmargin.datasets.tabular import fetch_higgs, fetch_protein_folds
from bayesmargin.datasets.text import (
    fetch_dblp,
    fetch_dbpedia14,
    fetch_debian_sections,
    fetch_imdb,
    fetch_stackoverflow,
    fetch_webkb,
)
from bayesmargin.datasets.wikipedia import fetch_wikipedia

__all__ = [
    "ChecksumError",
    "DataFormatError",
    "DataNotFoundError",
    "available",
    "data_homes",
    "fetch_20newsgroups_binary",
    "fetch_20newsgroups_counts",
    "fetch_20newsgroups_raw",
    "fetch_a9a",
    "fetch_dblp",
    "fetch_dbpedia14",
    "fetch_debian_sections",
    "fetch_higgs",
    "fetch_ijcnn1",
    "fetch_imdb",
    "fetch_pendigits",
    "fetch_protein_folds",
    "fetch_realsim",
    "fetch_reuters_moneyfx",
    "fetch_sector",
    "fetch_stackoverflow",
    "fetch_webkb",
    "fetch_wikipedia",
]
