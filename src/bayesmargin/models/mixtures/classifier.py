"""The classifier that infinite SVM and dpMNL share: labels read, sweeps counted, classes named."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels, require_numbers
from bayesmargin.models.deciding import DecisionsMixin
from bayesmargin.models.magnitude import LARGEST_SCALED, require_size
from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics
from bayesmargin.models.mixtures.start import default_clusters
from bayesmargin.models.saved.mixin import SavedMixin


class MixtureClassifier(SavedMixin, DecisionsMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers whose chains sweep over rows; it has no parameters of its own."""

    n_components_: Any

    @property
    def diagnostics_(self) -> MixtureDiagnostics:
        """What the fit says about itself; printed, it is a sentence."""
        figures = self.__dict__.get("diagnostics_")
        if figures is None:
            raise AttributeError(f"this {type(self).__name__} has no diagnostics_: fit it first")
        return MixtureDiagnostics(figures, self.n_components_)

    @diagnostics_.setter
    def diagnostics_(self, figures: Mapping[str, Any]) -> None:
        self.__dict__["diagnostics_"] = dict(figures)  # saved models hold it in this form

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit was completed: one that failed leaves the number of columns behind."""
        return hasattr(self, "n_components_")

    def _read_training(self, X: Any, y: Any) -> tuple[FloatArray, Any, IntArray]:
        """Checked rows and labels, and the class number of each label; sets ``classes_``."""
        require_numbers(X)
        X, y = validate_data(self, X, plain_labels(y), dtype=np.float64, ensure_min_samples=2)
        require_size(X, LARGEST_SCALED, getattr(self, "feature_names_in_", None))
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has the single class {classes.tolist()[0]!r}: at least 2 classes are needed"
            )
        self.classes_ = classes
        return X, y, codes.astype(np.int64)

    def _read_rows(self, X: Any) -> FloatArray:
        """Checked rows to predict."""
        check_is_fitted(self)
        require_numbers(X)
        rows: FloatArray = validate_data(self, X, dtype=np.float64, reset=False)
        require_size(rows, LARGEST_SCALED, getattr(self, "feature_names_in_", None))
        return rows

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of every class."""

    def predict(self, X: Any) -> Any:
        """Most probable class; the first on ties."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def check_sweeps(n_sweeps: Any, burn_in: int | None, auto: int | None = None) -> tuple[int, int]:
    """Check sweeps and burn-in, and return both as numbers.

    ``auto`` is the number of sweeps that "auto" stands for, where that is allowed.
    """
    if auto is not None and n_sweeps == "auto":
        n_sweeps = auto
    require_count("n_sweeps", n_sweeps, 1)
    if burn_in is None:
        return int(n_sweeps), int(n_sweeps) // 2
    if burn_in >= n_sweeps:
        raise ValueError(
            f"burn_in={burn_in} is not allowed: it must be less than "
            f"n_sweeps={n_sweeps}, or no draw is left"
        )
    return int(n_sweeps), int(burn_in)


def cluster_count(n_clusters: int | str, rows: int) -> int:
    """Clusters that a chain on so many rows starts from."""
    return default_clusters(rows) if n_clusters == "auto" else int(n_clusters)


def kept_sweeps(n_sweeps: int, burn_in: int, n_draws: int) -> IntArray:
    """Sweeps after which a draw is kept, evenly spaced after burn-in.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.classifier import kept_sweeps
    >>> kept_sweeps(n_sweeps=10, burn_in=5, n_draws=3)
    array([5, 7, 9])
    """
    kept = np.linspace(n_sweeps - 1, burn_in, n_draws).round()
    return np.unique(kept.astype(int))
