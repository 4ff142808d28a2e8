"""What spoke for an answer: the features or topics that moved the score most."""

from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.markup import Markup, name_of, number, tag

STRONGEST = 3


def reasons(context: Context, held: HeldOut, rows: IntArray) -> list[Markup] | None:
    """For each row the largest contributions to the predicted class; None where there are none.

    A contribution is weight times value: of a feature for a linear model, of a topic's share for a
    topic model. Against the other classes' mean where there are more than two.
    """
    if context.kind in ("infinite", "kernel") or hasattr(held.X, "parts"):
        return None
    estimator = context.estimator
    values = held.take(rows)
    if context.kind == "linear":
        names = context.feature_names
        values = values.to_numpy(dtype=float) if hasattr(values, "iloc") else values
    else:
        values, names = estimator.transform(values), context.topic_names
    weights = _relative(estimator.coef_)
    lines = []
    for k, row in enumerate(rows):
        line = values[[k]].toarray().ravel() if sparse.issparse(values) else values[k]
        chosen = int(held.predicted[row])
        sign = -1.0 if len(weights) == 1 and chosen == 0 else 1.0
        parts = sign * weights[0 if len(weights) == 1 else chosen] * line
        lines.append(_words(parts, names))
    return lines


def _relative(coef: FloatArray) -> FloatArray:
    return coef if len(coef) == 1 else coef - coef.mean(axis=0)


def _words(parts: FloatArray, names: list[str]) -> Markup:
    order = np.argsort(-np.abs(parts), kind="stable")[:STRONGEST]
    items: list[Any] = []
    for j in order:
        if parts[j] == 0.0:
            break
        sign = "+" if parts[j] > 0 else ""
        items += [", "] if items else []
        items += [name_of(names[j], 24), f" {sign}{number(float(parts[j]), 2)}"]
    return tag("span", *(items or ["nothing"]), class_="reason")
