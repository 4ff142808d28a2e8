"""How good a fit is while it runs, for those who watch."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.documents import Documents, check_counts, to_documents
from bayesmargin.models.medlda.labels import LabelCode
from bayesmargin.models.medlda.learning_link import MAX_HELD_OUT
from bayesmargin.models.medlda.posterior import weight_rhat
from bayesmargin.models.watching import watched


def watched_documents(code: LabelCode) -> tuple[Documents, IntArray] | None:
    """Documents that somebody watches the accuracy on, :data:`MAX_HELD_OUT` at most."""
    rows = None if code.several else watched(code.classes)
    if rows is None:
        return None
    some = np.linspace(0, len(rows.code) - 1, min(MAX_HELD_OUT, len(rows.code))).astype(int)
    counts = check_counts(sp.csr_array(rows.X[some]), "MedLDAClassifier")
    return to_documents(counts), code.signs(code.classes[rows.code[some]])


def describe(training: Any, held_out: tuple[Documents, IntArray] | None) -> str:
    """R-hat, and accuracy (label sets: micro F1) on held-out documents, for the display."""
    parts = [learner.posterior for learner in training.learners]
    if not parts[-1].topics:
        return ""
    width = len(training.columns)
    worst = weight_rhat([parts[i : i + width] for i in range(0, len(parts), width)])
    shown = "" if np.isnan(worst) else f"R-hat {worst:.2f}  "
    return shown if held_out is None else shown + _score(training, *held_out)


def _score(training: Any, documents: Documents, signs: IntArray) -> str:
    scores = training.scores(documents)
    if training.code.several:
        chosen = training.code.decide(scores, 0.0) > 0
        hits = (chosen & (signs > 0)).sum()
        return f"validation F1 {2.0 * hits / (chosen.sum() + (signs > 0).sum()):.3f}"
    if scores.shape[1] == 1:
        right = (scores[:, 0] > 0.0) == (signs[:, 0] > 0)
    else:
        right = signs[np.arange(len(signs)), scores.argmax(axis=1)] > 0
    return f"validation accuracy {right.mean():.3f}"
