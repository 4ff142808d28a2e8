"""Probabilities of label sets on the Wikipedia sample: labels come as often as they are likely.

    python benchmarks/medlda_label_sets.py

Default settings, 4,000 documents to learn from and 1,000 to be judged. Beside the probabilities of
each method stand those that its thresholds for F1 would give, the shares of the labels in training,
and logistic regression on tf-idf. Log loss and calibration error are over all labels of all
documents; perfect forecasts would have a larger error than "by chance" one time in twenty.
"""

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from bayesmargin import MedLDAClassifier
from bayesmargin.calibration.reliability import curve_of, expected_error
from bayesmargin.datasets import fetch_wikipedia
from medlda_tools import report
from options import no_options

RARE = 0.05
MODELS: dict[str, dict[str, Any]] = {
    "ssgrld multi_task": {},
    "ssgrld crammer_singer": {"multi_class": "crammer_singer"},
    "gibbs multi_task": {"sampler": "gibbs"},
    "pa multi_task": {"sampler": "pa"},
}


def log_loss(truth: np.ndarray, chances: np.ndarray) -> float:
    """Mean over labels and documents."""
    inside = np.clip(chances, 1e-15, 1.0 - 1e-15)
    return float(-np.mean(np.log(np.where(truth > 0, inside, 1.0 - inside))))


def judged(name: str, truth: np.ndarray, chances: np.ndarray, chosen: Any = None) -> dict[str, Any]:
    """A row of the table."""
    rare = truth.mean(axis=0) < RARE
    chosen = chances > 0.5 if chosen is None else chosen
    row = {
        "probabilities": name,
        "log loss": log_loss(truth, chances),
        "rare labels": log_loss(truth[:, rare], chances[:, rare]),
        "calibration error": curve_of(chances.ravel(), truth.ravel()).calibration_error,
        "by chance": expected_error(chances.ravel())[1],
        "labels expected": float(chances.sum(axis=1).mean()),
        "micro F1": float(f1_score(truth, chosen, average="micro", zero_division=0)),
    }
    print(row, flush=True)
    return row


def main() -> None:
    train, test = fetch_wikipedia(), fetch_wikipedia(subset="test")
    X, Y, new, truth = train.data, train.target, test.data, np.asarray(test.target, dtype=float)
    shares = np.tile(np.asarray(Y, dtype=float).mean(axis=0), (len(truth), 1))
    rows = [judged("shares of the labels", truth, shares)]
    logistic = OneVsRestClassifier(LogisticRegression(max_iter=300))
    peer = make_pipeline(TfidfTransformer(sublinear_tf=True), logistic).fit(X, Y)
    rows.append(judged("logistic tf-idf", truth, peer.predict_proba(new)))
    for name, settings in MODELS.items():
        model = MedLDAClassifier(random_state=0, **settings).fit(X, Y)
        link, chosen = model.link_, model.predict(new)
        naive = link.probabilities(model.decision_function(new), several=True)
        rows.append(judged(f"{name}, of thresholds", truth, naive, chosen))
        rows.append(judged(name, truth, model.predict_proba(new), chosen))
    report("medlda_label_sets", rows, verdicts(rows, float(truth.sum(axis=1).mean())))


def verdicts(rows: list[dict[str, Any]], n_labels: float) -> dict[str, dict[str, Any]]:
    """Every method is better than the shares, and expects as many labels as there are."""
    base, ours = rows[0]["log loss"], [row for row in rows if row["probabilities"] in MODELS]
    worst = max(row["log loss"] for row in ours)
    away = max(abs(row["labels expected"] - n_labels) for row in ours)
    error = max(row["calibration error"] for row in ours)
    return {
        "log loss below that of the shares": {
            "met": worst < base,
            "measured": f"{worst:.3f} at most against {base:.3f}",
        },
        "labels expected within 0.1 of those there are": {
            "met": away < 0.1,
            "measured": f"{away:.2f} away at most from {n_labels:.2f}",
        },
        "calibration error below 0.015": {
            "met": error < 0.015,
            "measured": f"{error:.4f} at most",
        },
    }


if __name__ == "__main__":
    no_options(__doc__)
    main()
