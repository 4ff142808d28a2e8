"""Labels of every kind as signs (documents x classifiers), and back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from bayesmargin.calibration.slopes import choose
from bayesmargin.foundation.types import FloatArray, IntArray


@dataclass(frozen=True)
class LabelCode:
    """How labels are coded: the classes, and whether a document may have several.

    Two classes need one classifier, whose sign is + for the second; more classes need one each.
    """

    classes: np.ndarray
    several: bool

    @property
    def n_classifiers(self) -> int:
        """Number of rows of the weights."""
        return 1 if len(self.classes) == 2 and not self.several else len(self.classes)

    def signs(self, y: Any, all_of_them: bool = False) -> IntArray:
        """Labels as +1 and -1, one column a classifier; ``all_of_them``: no more will come."""
        if self.several:
            indicator = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
            if indicator.ndim != 2 or indicator.shape[1] != len(self.classes):
                raise ValueError(
                    f"y has shape {indicator.shape}, but an indicator matrix with "
                    f"{len(self.classes)} columns is expected"
                )
            odd = ~np.isin(indicator, (-1, 0, 1))
            if odd.any():
                raise ValueError(
                    f"y holds {indicator[odd].tolist()[0]!r}, but an indicator matrix has 1 where "
                    "a document has the label of the column, and 0 (or -1) where it has not"
                )
            if all_of_them and not (indicator > 0).any():
                raise ValueError(
                    f"none of the {len(indicator)} documents has a label: the indicator matrix y "
                    "holds no 1, so there is nothing to learn"
                )
            return np.where(indicator > 0, 1, -1).astype(np.int8)
        labels = np.asarray(y)
        numbers = np.searchsorted(self.classes, labels)
        numbers = np.minimum(numbers, len(self.classes) - 1)
        unknown = self.classes[numbers] != labels
        if unknown.any():
            raise ValueError(
                f"y holds the label {labels[unknown].tolist()[0]!r}, which is not among the "
                f"classes {self.classes.tolist()}"
            )
        if self.n_classifiers == 1:
            return np.where(numbers == 1, 1, -1).astype(np.int8)[:, None]
        signs = np.full((labels.shape[0], len(self.classes)), -1, dtype=np.int8)
        signs[np.arange(labels.shape[0]), numbers] = 1
        return signs

    def decide(self, scores: FloatArray, cut: Any) -> np.ndarray:
        """Labels from scores: the largest, or every class above the cut (at least one)."""
        if self.several:
            return choose(scores, cut)
        if self.n_classifiers == 1:
            return self.classes[(scores[:, 0] > 0.0).astype(int)]
        return self.classes[scores.argmax(axis=1)]


def refuse_label_lists(y: Any) -> None:
    """Say how to code several labels a document when they come as lists or sets."""
    if len(getattr(y, "shape", ())) > 1 or not isinstance(y, Iterable):
        return
    first = next(iter(y), None)
    if not isinstance(first, list | tuple | set | frozenset):
        return
    sizes = {len(row) for row in y}
    named = any(isinstance(label, str) for label in first)
    if isinstance(first, set | frozenset) or len(sizes) > 1 or (named and sizes != {1}):
        raise ValueError(
            f"y holds label sets such as {first!r}: pass them as a 0/1 indicator matrix, which "
            "scikit-learn's MultiLabelBinarizer().fit_transform(y) makes"
        )


def learn_code(y: Any, classes: Any = None) -> LabelCode:
    """Find out what kind of labels ``y`` holds (``classes``: all that may ever come)."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind == "multilabel-indicator":
        columns = np.arange(y.shape[1])
        if classes is not None and not np.array_equal(np.unique(classes), columns):
            raise ValueError(
                f"classes={np.asarray(classes).tolist()!r} are not needed: y is an indicator "
                f"matrix, whose classes are the numbers of its {len(columns)} columns; leave them "
                "out"
            )
        return LabelCode(columns, several=True)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. y must hold one label a document, or be a 0/1 indicator "
            "matrix"
        )
    found = np.unique(np.asarray(y) if classes is None else np.asarray(classes))
    if len(found) < 2:
        raise ValueError(
            f"MedLDAClassifier needs at least 2 classes, but the data holds 1 class: "
            f"{found.tolist()[0]!r}"
        )
    return LabelCode(found, several=False)
