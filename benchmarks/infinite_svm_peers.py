"""Data and peers of the infinite SVM benchmarks: what is searched is what is measured.

Importing it leaves BLAS and OpenMP one thread: processor time would count one that only waits.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from bayesmargin.datasets import fetch_ijcnn1, fetch_protein_folds

threadpool_limits(1)


def load(name: str) -> tuple[np.ndarray, ...]:
    """Training features and labels, test features and labels."""
    fetch = fetch_protein_folds if name == "protein" else fetch_ijcnn1
    return (*fetch(subset="train", return_X_y=True), *fetch(subset="test", return_X_y=True))


def peer(model: str, settings: dict[str, Any]) -> Any:
    """Standardised features and one of scikit-learn's classifiers."""
    if model == "logit":
        part: Any = LogisticRegression(max_iter=2000, **settings)
    elif model == "RBF SVM":
        part = SVC(cache_size=500, **settings)
    elif settings["kind"] == "ovo":
        part = SVC(kernel="linear", C=settings["C"])
    else:
        part = LinearSVC(C=settings["C"], multi_class=settings["kind"], max_iter=20_000)
    return make_pipeline(StandardScaler(), part)
