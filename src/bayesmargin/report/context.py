"""What a report is about: the model, names for its parts, and its forecasts for held-out rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesmargin.types import FloatArray, IntArray

KINDS = {
    "BayesianLinearSVC": "linear",
    "MedLDAClassifier": "topics",
    "InfiniteSVC": "infinite",
    "DPMNLClassifier": "infinite",
}
MOST_ROWS = 50_000  # held-out rows that are forecast; more would hardly change a figure


@dataclass(frozen=True)
class HeldOut:
    """Forecasts for rows that the model has not seen, with what is known about the rows."""

    X: Any
    rows: IntArray  #: places of these rows in the data that were given
    total: int  #: rows that were given
    probability: FloatArray  #: (row, class)
    predicted: Any  #: class numbers (row,), or for label sets an indicator (row, class)
    truth: Any  #: likewise, -1 for a label that the model does not know; None without labels
    ids: list[str]
    texts: list[str] | None

    @property
    def known(self) -> IntArray:
        """Places of rows whose label is one of the model's classes."""
        if self.truth is None:
            return np.empty(0, np.int64)
        if self.truth.ndim == 2:
            return np.arange(len(self.truth))
        return np.flatnonzero(self.truth >= 0)

    @property
    def label_sets(self) -> bool:
        """Whether a row may carry several labels."""
        return np.ndim(self.predicted) == 2


@dataclass
class Context:
    """A fitted estimator with everything that the sections read."""

    estimator: Any
    extras: Mapping[str, Any]
    kind: str
    class_names: list[str]
    feature_names: list[str]
    named: bool  #: whether the features had names, or only numbers
    held_out: HeldOut | None
    remarks: list[str] = field(default_factory=list)

    @property
    def model_name(self) -> str:
        """Name of the estimator's class."""
        return type(self.estimator).__name__

    @cached_property
    def topic_names(self) -> list[str]:
        """Two leading words for every topic."""
        tops = self.estimator.top_words(self.feature_names, n=2)
        return [f"{k + 1}: {' '.join(words)}" for k, words in enumerate(tops)]

    @cached_property
    def topics(self) -> FloatArray:
        """Posterior mean of the topics, computed once."""
        value: FloatArray = self.estimator.topics_
        return value


def kind_of(estimator: Any) -> str:
    """Which report an estimator gets."""
    for ancestor in type(estimator).__mro__:
        if ancestor.__name__ in KINDS:
            return KINDS[ancestor.__name__]
    raise TypeError(
        f"no report can be written about a {type(estimator).__name__}: it takes a fitted "
        f"{', '.join(KINDS)} (of a pipeline pass the last step, and data that went through the "
        "others)"
    )


def make_context(estimator: Any, extras: Mapping[str, Any] | None, data: Any) -> Context:
    """Gather names and forecasts."""
    kind = kind_of(estimator)
    check_is_fitted(estimator)
    extras = dict(extras or {})
    features, named = _feature_names(estimator, extras)
    context = Context(
        estimator=estimator,
        extras=extras,
        kind=kind,
        class_names=_class_names(estimator, extras),
        feature_names=features,
        named=named,
        held_out=None,
    )
    if data is not None:
        context.held_out = _forecast(context, data)
    return context


def _feature_names(estimator: Any, extras: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Names from the training data, else from what was saved beside the model."""
    count = int(estimator.n_features_in_)
    own = getattr(estimator, "feature_names_in_", None)
    if own is not None:
        return [str(name) for name in own], True
    for key in ("feature_names", "vocabulary", "preparation", *extras):
        found = _names_within(extras.get(key), count)
        if found is not None:
            return found, True
    word = "word" if kind_of(estimator) == "topics" else "feature"
    return [f"{word} {k}" for k in range(count)], False


def _names_within(document: Any, count: int) -> list[str] | None:
    """A list of ``count`` strings, or a mapping of strings to places, anywhere in a document."""
    if isinstance(document, Mapping):
        places = list(document.values())
        if len(places) == count and all(type(place) is int for place in places):
            ordered = sorted(document, key=document.__getitem__)
            if sorted(places) == list(range(count)):
                return [str(name) for name in ordered]
        parts = places
    elif isinstance(document, list | tuple):
        if len(document) == count and all(isinstance(name, str) for name in document):
            return list(document)
        parts = [part for part in document if isinstance(part, Mapping | list | tuple)][:100]
    else:
        return None
    found = (_names_within(part, count) for part in parts)
    return next((names for names in found if names is not None), None)


def _class_names(estimator: Any, extras: Mapping[str, Any]) -> list[str]:
    classes = estimator.classes_
    for key in ("class_names", "target_names"):
        names = extras.get(key)
        if isinstance(names, list | tuple) and len(names) == len(classes):
            return [str(name) for name in names]
    return [str(name) for name in classes]


def _forecast(context: Context, data: Any) -> HeldOut:
    """Probabilities and predictions for the held-out rows, a random part of very many."""
    estimator, X = context.estimator, data.X
    sliceable = isinstance(X, np.ndarray) or sparse.issparse(X) or hasattr(X, "iloc")
    X = X if sliceable or hasattr(X, "parts") else np.asarray(X)
    total = int(X.shape[0])
    rows = np.arange(total)
    if total > MOST_ROWS and not hasattr(X, "parts"):
        rows = np.sort(np.random.default_rng(0).choice(total, MOST_ROWS, replace=False))
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        context.remarks.append(
            f"The forecasts are of {MOST_ROWS:,} rows chosen at random from the {total:,} given."
        )
    probability = np.asarray(estimator.predict_proba(X), dtype=float)
    y = getattr(data, "y", None)
    if np.allclose(probability.sum(axis=1), 1.0, atol=1e-5):
        # The most probable class is what ``predict`` gives, for every model of the library.
        predicted = probability.argmax(axis=1)
        truth = None if y is None else _codes(np.asarray(y)[rows], estimator.classes_)
    else:  # label sets: every label has a probability of its own
        predicted = np.asarray(estimator.predict(X))
        truth = None if y is None else np.asarray(_dense(y))[rows].astype(int)
    if truth is not None and len(truth) and truth.ndim == 1 and (truth < 0).any():
        strange = int((truth < 0).sum())
        context.remarks.append(
            f"{strange:,} of {len(truth):,} rows carry a label that the model was never shown; "
            "they count as wrong in the accuracy and are left out elsewhere."
        )
    ids, texts = getattr(data, "ids", None), getattr(data, "texts", None)
    return HeldOut(
        X=X,
        rows=rows,
        total=total,
        probability=probability,
        predicted=predicted,
        truth=truth,
        ids=[f"row {k}" for k in rows] if ids is None else [str(ids[k]) for k in rows],
        texts=None if texts is None else [str(texts[k]) for k in rows],
    )


def _dense(y: Any) -> Any:
    return y.toarray() if sparse.issparse(y) else y


def _codes(labels: Any, classes: Any) -> IntArray:
    """Class numbers; labels that agree with none are -1. Text is compared when types differ."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if len(codes) and (codes < 0).all():
        place = {str(label): k for label, k in place.items()}
        codes = np.array([place.get(str(label), -1) for label in labels.tolist()], dtype=np.int64)
    return codes
