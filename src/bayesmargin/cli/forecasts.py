"""What a model says about rows: classes, probabilities, and how sure it is."""

from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import listed, word


def forecast(estimator: Any, X: Any) -> dict[str, Any]:
    """Columns of a table of predictions.

    Beside the class and the probabilities: ``score`` and ``score_sd``, the posterior mean and
    standard deviation of the score (of more than two classes, of the predicted class's lead over
    the next), and ``votes``, the share of posterior draws that vote for the predicted class, for
    models that have them.
    """
    code, probability = judge(estimator, X)
    each = np.arange(len(code))
    columns: dict[str, Any] = {
        "predicted": estimator.classes_[code],
        "probability": probability[each, code],
    }
    for k, name in enumerate(estimator.classes_):
        columns[f"p({name})"] = probability[:, k]
    if type(estimator).__name__ == "BayesianLinearSVC":
        columns["score"], columns["score_sd"] = _score(estimator, X)
    if hasattr(estimator, "predict_votes"):
        columns["votes"] = np.asarray(estimator.predict_votes(X))[each, code]
    return columns


def _score(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Score of two classes, or lead of the best of several over the next, with its sd.

    A score alone says little of several classes: the part that they share is not learned from data.
    """
    if len(estimator.classes_) == 2:
        return estimator.decision_function(X, return_std=True)
    from bayesmargin.leading import leader_of
    from bayesmargin.models.spread import contrast_variance

    scores = estimator.decision_function(X)
    leader, each = leader_of(scores), np.arange(len(scores))
    others = scores.copy()
    others[each, leader] = -np.inf
    second = others.argmax(axis=1)
    rows, (coef, intercept) = estimator._rows(X), estimator._draws()
    deviations, first = [], 0
    for part in rows.parts() if hasattr(rows, "parts") else [rows]:
        here = slice(first, first + part.shape[0])
        variance = contrast_variance(part, coef, intercept, leader[here])
        deviations.append(np.sqrt(variance[np.arange(len(variance)), second[here]]))
        first = here.stop
    return scores[each, leader] - scores[each, second], np.concatenate(deviations)


def judge(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Class numbers and probabilities of rows.

    The most probable class is the predicted one in every model, so that models whose predictions
    take long are asked once.
    """
    probability = np.asarray(estimator.predict_proba(X))
    if type(estimator).__name__ == "BayesianLinearSVC":
        return codes(estimator.predict(X), estimator.classes_), probability
    return probability.argmax(axis=1), probability


def codes(labels: Any, classes: Any) -> Any:
    """Class number of every label; a label that the model does not know is an error."""
    labels = np.asarray(labels)
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    found = [place.get(label, -1) for label in labels.tolist()]
    if -1 in found:  # numbers in one file can be words in another
        words = {word(label): k for label, k in place.items()}
        found = [words.get(word(label), -1) for label in labels.tolist()]
    if -1 in found:
        strange = sorted({str(label) for label, k in zip(labels, found, strict=True) if k < 0})
        raise DataError(
            f"the labels {listed(strange)} are not among the classes of the model, "
            f"{listed(list(place))}"
        )
    return np.array(found, dtype=np.int64)
