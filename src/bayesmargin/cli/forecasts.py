"""What a model says about rows: classes, probabilities, and how sure it is."""

from typing import Any

import numpy as np

from bayesmargin.cli.measured import value_columns
from bayesmargin.cli.models import predicts_values
from bayesmargin.errors import DataError
from bayesmargin.inputs.names import listed
from bayesmargin.models.registry import model_of
from bayesmargin.tables.table import word


def forecast(estimator: Any, X: Any) -> dict[str, Any]:
    """Columns of a table of predictions.

    Beside the class and the probabilities: ``score`` and ``score_sd``, the posterior mean and
    standard deviation of the score (of more than two classes, of the predicted class's lead over
    the next), and ``votes``, the share of posterior draws that vote for the predicted class, for
    models that have them. Values of a regression come with their deviation and the ends of an
    interval that holds nine new values in ten.
    """
    if predicts_values(estimator):
        return value_columns(estimator, X)
    code, probability = judge(estimator, X)
    each = np.arange(len(code))
    columns: dict[str, Any] = {
        "predicted": estimator.classes_[code],
        "probability": probability[each, code],
    }
    for k, name in enumerate(estimator.classes_):
        columns[f"p({name})"] = probability[:, k]
    if hasattr(estimator, "predict_lead"):
        several = len(estimator.classes_) > 2
        score = estimator.predict_lead if several else estimator.decision_function
        columns["score"], columns["score_sd"] = score(X, return_std=True)
    if hasattr(estimator, "predict_votes"):
        columns["votes"] = np.asarray(estimator.predict_votes(X))[each, code]
    return columns


def judge(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Class numbers and probabilities of rows.

    Where the most probable class is the predicted one, models whose predictions take long are
    asked once.
    """
    probability = np.asarray(estimator.predict_proba(X))
    model = model_of(estimator)
    if model is None or not model.modal:
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
