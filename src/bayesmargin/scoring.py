"""How good predictions are: accuracy, and scores of the probabilities."""

from typing import Any

import numpy as np

from bayesmargin.types import FloatArray, IntArray

BINS = 10
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
    >>> from bayesmargin.scoring import scores
    >>> found = scores(np.array([0, 1]), np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> found["accuracy"], round(found["brier"], 3)
    (1.0, 0.025)
    """
    rows, n_classes = len(truth), probability.shape[1]
    right = truth == predicted
    member = truth[:, None] == np.arange(n_classes)
    brier = float(((probability - member) ** 2).sum() / rows)
    chosen = probability.argmax(axis=1) if n_classes > 2 else np.ones(rows, dtype=int)
    each = np.arange(rows)
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[truth == k].mean() for k in np.unique(truth)])),
        "log_loss": float(-np.log(np.maximum(probability[each, truth], SMALLEST)).mean()),
        "brier": 0.5 * brier if n_classes == 2 else brier,
        "calibration_error": calibration_error(probability[each, chosen], member[each, chosen]),
    }


def calibration_error(chance: FloatArray, event: Any) -> float:
    """Mean distance between forecast and frequency over (ten) bins of equally many rows."""
    wanted = max(1, min(BINS, len(chance) // 5))
    parts = np.array_split(np.argsort(chance, kind="stable"), wanted)
    gaps = [len(part) * abs(chance[part].mean() - event[part].mean()) for part in parts]
    return float(sum(gaps) / len(chance))


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
