"""How good predictions are: accuracy, and scores of the probabilities."""

from typing import Any

import numpy as np

from bayesmargin.calibration.reliability import curve_of
from bayesmargin.foundation.types import FloatArray, IntArray

SMALLEST = 1e-15


def scores(truth: IntArray, predicted: IntArray, probability: FloatArray) -> dict[str, float]:
    """Accuracy, balanced accuracy, log loss, Brier score and calibration error.

    Parameters
    ----------
    truth, predicted : arrays of shape (n,)
        Class numbers.
    probability : array of shape (n, n_classes)

    Notes
    -----
    The Brier score is summed over classes, and for two classes halved (the usual binary score). The
    calibration error is that of the probability of the predicted class, of two classes the second.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.scoring import scores
    >>> found = scores(np.array([0, 1]), np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> found["accuracy"], round(found["brier"], 3)
    (1.0, 0.025)
    """
    rows, n_classes = len(truth), probability.shape[1]
    right = truth == predicted
    chosen = probability.argmax(axis=1) if n_classes > 2 else np.ones(rows, dtype=int)
    chance = probability[np.arange(rows), chosen]
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[truth == k].mean() for k in np.unique(truth)])),
        "log_loss": log_loss(truth, probability),
        "brier": brier_score(truth, probability),
        "calibration_error": curve_of(chance, truth == chosen).calibration_error,
    }


def log_loss(truth: IntArray, probability: FloatArray) -> float:
    """Mean of minus the log probability of the true class."""
    likely = np.maximum(probability[np.arange(len(truth)), truth], SMALLEST)
    return float(-np.log(likely).mean())


def brier_score(truth: IntArray, probability: FloatArray) -> float:
    """Mean squared distance to the true class, over all classes; halved for two of them."""
    n_classes = probability.shape[1]
    member = truth[:, None] == np.arange(n_classes)
    score = float(((probability - member) ** 2).sum() / len(truth))
    return 0.5 * score if n_classes == 2 else score


def class_table(truth: IntArray, predicted: IntArray, n_classes: int) -> list[dict[str, Any]]:
    """Rows, precision, recall and F1 of every class."""
    table = []
    for k in range(n_classes):
        own, named = truth == k, predicted == k
        hits = float((own & named).sum())
        precision = hits / named.sum() if named.any() else float("nan")
        recall = hits / own.sum() if own.any() else float("nan")
        total = float(own.sum() + named.sum())
        f1 = 2.0 * hits / total if total else float("nan")
        table.append({"rows": int(own.sum()), "precision": float(precision),
                      "recall": float(recall), "f1": f1})  # fmt: skip
    return table


def confusion(truth: IntArray, predicted: IntArray, n_classes: int) -> IntArray:
    """Counts by true class (row) and predicted class (column)."""
    counts = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes)
