"""Small posteriors whose moments are known: fixtures of the tests and of the validation page."""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, GaussianBelief, LaplaceBelief
from bayesmargin.rows import DenseSource
from bayesmargin.targets.problem import Problem

GEWEKE_ROWS = np.array([[0.9, 0.1], [-0.3, 0.8], [0.5, -0.6]])


def small_problem(
    rows: FloatArray,
    label: IntArray,
    n_classes: int = 2,
    cost: float = 1.0,
    margin: float = 1.0,
    prior: str = "gaussian",
    prior_scale: float = 1.0,
) -> Problem:
    """Posterior of a linear model without intercept, from arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.validation.problems import small_problem
    >>> small_problem(np.eye(2), np.array([0, 1])).n_weights
    2
    """
    rows = np.ascontiguousarray(rows, dtype=float)
    size = rows.shape[1] * (1 if n_classes == 2 else n_classes)
    belief: Belief = LaplaceBelief(np.full(size, prior_scale))
    if prior == "gaussian":
        belief = GaussianBelief(np.zeros(size), np.full(size, prior_scale**-2.0))
    label = np.asarray(label, dtype=np.int64)
    costs = np.full(len(rows), float(cost))
    return Problem(DenseSource(rows, False), label, n_classes, costs, float(margin), belief)


def one_kink() -> Problem:
    """One dimension, one kink: ``U = x^2/2 + 3 (1 - x)_+``."""
    return small_problem(np.ones((1, 1)), np.array([1]), cost=3.0)


def many_kinks(n_weights: int = 30) -> Problem:
    """Independent copies of :func:`one_kink`: known moments, and a statistic a weight each draw."""
    return small_problem(np.eye(n_weights), np.ones(n_weights, dtype=np.int64), cost=3.0)


def five_rows(prior: str = "gaussian") -> Problem:
    """Two weights, five rows, two classes."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
    return small_problem(rows, np.array([1, 0, 1, 1, 0]), prior=prior)


def three_classes() -> Problem:
    """Three classes, one feature, four rows."""
    rows = np.array([[1.0], [-1.0], [2.0], [0.5]])
    return small_problem(rows, np.array([0, 1, 2, 0]), n_classes=3)


def crowd() -> Problem:
    """Three classes, one feature, eight rows: enough rivals for a frozen runner-up to go wrong."""
    rng = np.random.default_rng(5)
    return small_problem(rng.standard_normal((8, 1)) * 2.0, np.arange(8) % 3, n_classes=3, cost=2.0)


def synthetic_plane(n_rows: int = 1000, seed: int = 0) -> Problem:
    """Rows uniform on the unit square, labels drawn from the normalised pseudo-likelihood."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, 2))
    scores = rows @ (rng.standard_normal(2) / np.sqrt(3.0))
    plus, minus = np.maximum(0.0, 1.0 - scores), np.maximum(0.0, 1.0 + scores)
    label = (rng.random(n_rows) < 1.0 / (1.0 + np.exp(plus - minus))).astype(np.int64)
    return small_problem(rows, label)
