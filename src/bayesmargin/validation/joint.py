r"""Draws from the joint law of weights and labels that belongs to a pseudo-likelihood.

The pseudo-likelihoods do not sum to one over the labels, so the joint
:math:`q(w, y) \propto p_0(w) \prod_d \psi_d(y_d | w)` has the marginal
:math:`p_0(w) \prod_d C_d(w)` with :math:`C_d = \sum_y \psi_d(y | w)`, **not** the prior. It is
drawn by rejection from the prior: for two classes :math:`C_d \le 1 + e^{-2c\ell}`, for :math:`L`
classes :math:`C_d \le 1 + (L-1)e^{-c\ell}`.
"""

import itertools

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.targets.problem import Problem
from bayesmargin.validation.kernels import with_label

CHUNK = 20_000
PATIENCE, RAREST = 1_000_000, 1e-5  # proposals before the share that was accepted is judged


def label_weights(problem: Problem, weights: FloatArray) -> FloatArray:
    """Pseudo-likelihoods (draw, row, class) of every label of every row."""
    rows = problem.source.take(np.arange(problem.source.n_rows))
    scores = weights.reshape(len(weights), problem.n_blocks, -1) @ rows.T
    if problem.is_binary:
        slack = np.concatenate([problem.margin + scores, problem.margin - scores], axis=1)
    else:
        ordered = np.sort(scores, axis=1)
        first, second = ordered[:, -1:], ordered[:, -2:-1]
        slack = problem.margin + np.where(scores == first, second, first) - scores
    return np.exp(-problem.cost * np.maximum(slack, 0.0)).transpose(0, 2, 1)


def draw_labels(problem: Problem, weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Labels (draw, row) given weights, each with its share of the pseudo-likelihoods."""
    cumulative = np.cumsum(label_weights(problem, weights), axis=-1)
    uniform = rng.random(cumulative.shape[:-1]) * cumulative[..., -1]
    return (uniform[..., None] > cumulative[..., :-1]).sum(axis=-1)


def _prior_draws(problem: Problem, count: int, rng: np.random.Generator) -> FloatArray:
    prior = problem.prior
    if isinstance(prior, GaussianBelief):
        if prior.precision.ndim == 2:
            lower = np.linalg.cholesky(np.linalg.inv(prior.precision))
            return prior.mean + rng.standard_normal((count, problem.n_weights)) @ lower.T
        deviation = 1.0 / np.sqrt(prior.precision)
        return prior.mean + deviation * rng.standard_normal((count, problem.n_weights))
    return rng.laplace(0.0, prior.scale, (count, problem.n_weights))


def draw_joint(
    problem: Problem, count: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Independent draws of weights and labels from their joint law (labels given are not used)."""
    reach = problem.cost * problem.margin
    if problem.is_binary:
        bound = 1.0 + np.exp(-2.0 * reach)
    else:
        bound = 1.0 + (problem.n_classes - 1) * np.exp(-reach)
    kept: list[FloatArray] = []
    total = proposals = 0
    while total < count:
        proposed = _prior_draws(problem, CHUNK, rng)
        ratio = label_weights(problem, proposed).sum(axis=-1) / bound
        accepted = proposed[rng.random(CHUNK) < ratio.prod(axis=-1)]
        kept.append(accepted)
        total += len(accepted)
        proposals += CHUNK
        if proposals >= PATIENCE and total < min(count, RAREST * proposals):
            raise ValueError(
                f"{total} of {proposals:,} draws of the prior were accepted as draws of the joint "
                f"law of weights and labels, {count} are wanted: use a problem of fewer rows "
                f"(it has {problem.source.n_rows}) or classes, or of a smaller cost or prior scale"
            )
    weights = np.concatenate(kept)[:count]
    return weights, draw_labels(problem, weights, rng)


def label_problems(problem: Problem) -> dict[tuple[int, ...], Problem]:
    """The problem under every possible labelling of its rows (a few rows only)."""
    n_rows = problem.source.n_rows
    if problem.n_classes**n_rows > 1000:
        raise ValueError(
            f"{n_rows} rows have {problem.n_classes**n_rows} labellings: use at most 1000"
        )
    every = itertools.product(range(problem.n_classes), repeat=n_rows)
    return {label: with_label(problem, label) for label in every}
