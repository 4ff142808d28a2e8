"""What a report is about: the model, names for its parts, and its forecasts for held-out rows.

The forecasts are made in :mod:`bayesmargin.report.held_out`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.names import names_of
from bayesmargin.models.medlda.diagnostics import diagnose, topic_traces
from bayesmargin.models.medlda.understanding import top_words
from bayesmargin.models.registry import MODELS, Model, model_of
from bayesmargin.report.held_out import HeldOut, forecast
from bayesmargin.report.held_values import HeldValues, forecast_values

VALUES = "values"  # kind of the reports of regressions


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
    held_values: HeldValues | None = None  #: in their place, of a regression
    remarks: list[str] = field(default_factory=list)

    @property
    def of_items(self) -> bool:
        """Whether tables tell of items instead of rows with features."""
        return entry_of(self.estimator).answers == "items"

    @property
    def model_name(self) -> str:
        """Name of the estimator's class."""
        return type(self.estimator).__name__

    @cached_property
    def topic_traces(self) -> dict[str, FloatArray]:
        """Quantities along the chains of a topic model, computed once from all its draws."""
        return topic_traces(self.estimator.posterior_)

    @cached_property
    def diagnostics(self) -> Any:
        """What the estimator says about itself, computed once."""
        if self.kind == "topics":
            return diagnose(self.estimator.posterior_, self.topic_traces)
        return getattr(self.estimator, "diagnostics_", None)

    @cached_property
    def topic_names(self) -> list[str]:
        """Two leading words for every topic."""
        tops = top_words(self.topics, self.feature_names, n=2)
        return [f"{k + 1}: {' '.join(words)}" for k, words in enumerate(tops)]

    @cached_property
    def topics(self) -> FloatArray:
        """Posterior mean of the topics, computed once."""
        value: FloatArray = self.estimator.topics_
        return value


def kind_of(estimator: Any) -> str:
    """Which report an estimator gets."""
    return entry_of(estimator).report


def entry_of(estimator: Any) -> Model:
    """Entry of the model of this library that it is, or derives from."""
    found = model_of(estimator)
    if found is None:
        raise TypeError(
            f"no report can be written about a {type(estimator).__name__}: it takes a fitted "
            f"{', '.join(MODELS)} (of a pipeline pass the last step, and data that went through "
            "the others)"
        )
    return found


def make_context(estimator: Any, extras: Mapping[str, Any] | None, data: Any) -> Context:
    """Gather names and forecasts."""
    kind = kind_of(estimator)
    check_is_fitted(estimator)
    if entry_of(estimator).answers == "items":
        return _items_context(estimator, extras, data)
    extras = {key: _listed(document) for key, document in (extras or {}).items()}
    remarks: list[str] = []
    features, named = _feature_names(estimator, extras, remarks)
    context = Context(
        estimator=estimator,
        extras=extras,
        kind=kind,
        class_names=_class_names(estimator, extras, remarks),
        feature_names=features,
        named=named,
        held_out=None,
        remarks=remarks,
    )
    if data is not None and kind == VALUES:
        context.held_values = forecast_values(estimator, data, remarks)
    elif data is not None:
        context.held_out = forecast(estimator, data, remarks)
    return context


def _items_context(estimator: Any, extras: Mapping[str, Any] | None, data: Any) -> Context:
    """Of a model that tables tell of, which has no rows with features."""
    if data is not None:
        raise ValueError(
            f"data={type(data).__name__} is not allowed in the report of a "
            f"{type(estimator).__name__}: it is about the table of the fit"
        )
    listed = {key: _listed(document) for key, document in (extras or {}).items()}
    return Context(estimator, listed, kind_of(estimator), [], [], False, None)


def _listed(document: Any) -> Any:
    """Arrays and columns of tables as lists, which is how names are looked for and shown."""
    return document.tolist() if hasattr(document, "tolist") else document


def _given(
    extras: Mapping[str, Any], keys: tuple[str, ...], count: int, remarks: list[str]
) -> list[str] | None:
    """Names under the first of the keys that has some which fit; of others a remark is made."""
    for key in keys:
        if extras.get(key) is None:
            continue
        try:
            return names_of(extras[key], count, f'"{key}"')
        except ValueError as error:
            remarks.append(f"Names were left aside: {error}.")
    return None


def _feature_names(
    estimator: Any, extras: Mapping[str, Any], remarks: list[str]
) -> tuple[list[str], bool]:
    """Names from the training data, else from what was saved beside the model."""
    count = int(estimator.n_features_in_)
    own = getattr(estimator, "feature_names_in_", None)
    if own is not None:
        return [str(name) for name in own], True
    unfit: list[str] = []
    given = _given(extras, ("feature_names", "vocabulary"), count, unfit)
    if given is not None:
        return given, True
    found = _names_within(extras.get("preparation"), count)
    if found is not None:
        return found, True
    remarks += unfit
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


def _class_names(estimator: Any, extras: Mapping[str, Any], remarks: list[str]) -> list[str]:
    """Names of the classes, or of the lines of a regression."""
    if kind_of(estimator) == VALUES:
        lines = [
            f"{axis} {label}"
            for axis, labels in estimator.posterior_.coords.items()
            if axis != "feature"
            for label in labels
        ]
        return lines or ["value"]
    given = _given(extras, ("class_names", "target_names"), len(estimator.classes_), remarks)
    return [str(name) for name in estimator.classes_] if given is None else given
