"""Scores and pseudo-likelihood of one expert: one weight vector for two classes, else L."""

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.linear_algebra import dot
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.hinge import binary_log_psi, multiclass_log_psi, winner
from bayesmargin.models.infinite_svc.state import Hinge


@inner_borrowing_jit
def fill_scores(weights: FloatArray, row: FloatArray, scores: FloatArray) -> None:
    """Scores of ``row`` under every weight vector of an expert."""
    for y in range(weights.shape[0]):
        scores[y] = dot(weights[y], row)


@inner_borrowing_jit
def log_psi_of_scores(scores: FloatArray, label: int, hinge: Hinge) -> float:
    """Log pseudo-likelihood of a label from the scores of an expert."""
    if scores.shape[0] == 1:
        return binary_log_psi(hinge.cost, hinge.margin, 2.0 * label - 1.0, scores[0])
    return multiclass_log_psi(hinge.cost, hinge.margin, scores, label)


@inner_borrowing_jit
def log_psi(
    weights: FloatArray, row: FloatArray, label: int, hinge: Hinge, scores: FloatArray
) -> float:
    """Log pseudo-likelihood of one labelled row under an expert; ``scores`` is work space."""
    fill_scores(weights, row, scores)
    return log_psi_of_scores(scores, label, hinge)


@inner_borrowing_jit
def winning_option(scores: FloatArray, label: int, hinge: Hinge) -> int:
    """Option that attains the hinge: the label when it is inactive, else the rival."""
    if scores.shape[0] == 1:
        active = hinge.margin - (2.0 * label - 1.0) * scores[0] > 0.0
        return 1 - label if active else label
    return winner(hinge.margin, scores, label)


@inner_borrowing_jit
def add_pull(pull: FloatArray, row: FloatArray, label: int, option: int, weight: float) -> None:
    """Add ``weight`` times the subgradient of log psi / c of a row whose winner is ``option``."""
    if option == label:
        return
    if pull.shape[0] == 1:
        signed = weight * (2.0 * label - 1.0)
        for j in range(row.shape[0]):
            pull[0, j] += signed * row[j]
        return
    for j in range(row.shape[0]):
        pull[label, j] += weight * row[j]
        pull[option, j] -= weight * row[j]


@inner_borrowing_jit
def vote(scores: FloatArray) -> int:
    """Class that an expert predicts; the lowest index on ties."""
    if scores.shape[0] == 1:
        return 1 if scores[0] > 0.0 else 0
    best = 0
    for y in range(1, scores.shape[0]):
        if scores[y] > scores[best]:
            best = y
    return best
