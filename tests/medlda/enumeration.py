"""Brute force for corpora so small that every assignment of topics can be listed."""

import itertools

import numpy as np
from scipy.special import gammaln


def hinge_value(rule: str, margin: float, signs: np.ndarray, scores: np.ndarray) -> float:
    """The hinges of algorithms 1.3, 3.4 and 3.5, written from their definition."""
    if rule == "multi_task":
        return float(np.maximum(0.0, margin - signs * scores).sum())
    members, rivals = scores[signs > 0], scores[signs < 0]
    if members.size == 0 or rivals.size == 0:
        return 0.0
    return max(0.0, margin + rivals.max() - members.min())


def assignments(n_topics: int, n_words: int) -> np.ndarray:
    return np.array(list(itertools.product(range(n_topics), repeat=n_words)))


def topic_counts(z: np.ndarray, n_topics: int) -> np.ndarray:
    return np.bincount(z, minlength=n_topics)


def document_log_weight(
    z: np.ndarray,
    words: np.ndarray,
    phi: np.ndarray,
    alpha: float,
    eta: np.ndarray,
    signs: np.ndarray,
    rule: str,
    cost: float,
    margin: float,
) -> float:
    """Log of the braces of algorithms 3.1, theta integrated out, up to a constant."""
    counts = topic_counts(z, phi.shape[0])
    scores = eta @ counts / len(words)
    value = gammaln(alpha + counts).sum() + np.log(phi[z, words]).sum()
    return float(value - cost * hinge_value(rule, margin, signs, scores))


def normalise(logs: np.ndarray) -> np.ndarray:
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    return 0.5 * float(np.abs(p - q).sum())
