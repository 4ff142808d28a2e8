r"""Settings chosen by the log loss of rows left out, of which nothing is sampled and nothing refit.

The anchor, the Gaussian :math:`N(m, S)` closest to a posterior, is found in a few passes. Row
:math:`d` is in it by a force :math:`c\,\Phi(t_d)` on the mean of its score, and by the curvature
:math:`\lambda_d = c\,\varphi(t_d) / \sigma_d` that it adds to the precision, where its slack has
the mean :math:`\mu_d`, the deviation :math:`\sigma_d`, and :math:`t_d = \mu_d / \sigma_d`. Without
the two the score of a row has, to the order of a Newton step,

.. math:: \sigma_{-d}^2 = \frac{\sigma_d^2}{1 - \lambda_d \sigma_d^2}, \qquad
          f_{-d} = f_d - y_d\, c\, \Phi(t_d)\, \sigma_{-d}^2 ,

with the precision that the curvatures of all rows add up to, and after the step that is left to the
anchor itself.

From these of all rows follows the link to probabilities, and from the link the log loss of every
row as the others forecast it. One such fit a candidate tells what a sampled fit of the candidate
would be worth: sampling is left to the best one.

Of more than two classes there is an anchor for each against the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.binary import expected_hinges, with_prior
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor
from bayesmargin.calibration.leading import leader_of, variance_to_leader
from bayesmargin.calibration.maps import fit_link
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.fitting import LinearData, make_problem
from bayesmargin.priors.moments import normal_density, prior_belief
from bayesmargin.targets.problem import Problem

Candidate = tuple[float, ...]
"""Values of the settings in question, in their order."""

CERTAIN = 1e-12  # probability below which a log loss is not counted any higher
MOST_OWN = 1.0 - 1e-9  # of the precision of its score that a row may have brought itself
ENOUGH, HARDLY = 0.003, 0.25  # of the least loss, and of the error, that are hardly a loss
FLAT = 1.0  # standard errors within which a candidate is as good as the best


@dataclass(frozen=True)
class Profile:
    """What candidates were worth: their log losses on rows left out.

    Parameters
    ----------
    names : tuple of str
        Settings in question.
    values : array of shape (n_candidates, n_settings)
    loss : array of shape (n_candidates,)
        Mean log loss.
    behind : array of shape (n_candidates,)
        Standard error of the difference to the best one, row by row.
    """

    names: tuple[str, ...]
    values: FloatArray
    loss: FloatArray
    behind: FloatArray

    @property
    def best(self) -> dict[str, float]:
        """The candidate nearest to the first, on a scale of logarithms, that hardly loses anything.

        Where nothing is gained by a far one, the first is a better guess.
        """
        lost = self.loss - self.loss.min()
        near = lost <= np.maximum(ENOUGH * self.loss.min(), HARDLY * self.behind)
        away = np.abs(np.log(self.values / self.values[0])).sum(axis=1)
        found = self.values[int(np.argmin(np.where(near, away, np.inf)))]
        return dict(zip(self.names, map(float, found), strict=True))

    def flat(self) -> dict[str, tuple[float, float]]:
        """Range of every setting over the candidates that are as good as the best to within error.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.models.linear.choosing import Profile
        >>> values, behind = np.array([[0.1], [1.0], [10.0]]), np.array([0.02, 0.0, 0.01])
        >>> Profile(("C",), values, np.array([0.31, 0.3, 0.4]), behind).flat()
        {'C': (0.1, 1.0)}
        """
        near = self.values[self.loss - self.loss.min() <= FLAT * self.behind]
        low, high = near.min(axis=0), near.max(axis=0)
        return {n: (float(a), float(b)) for n, a, b in zip(self.names, low, high, strict=True)}

    def __str__(self) -> str:
        best = self.best
        ranges = {name: f"{low:.3g} to {high:.3g}" for name, (low, high) in self.flat().items()}
        parts = [
            f"{name}={value:.3g} (as good to within error: {ranges[name]})"
            for name, value in best.items()
        ]
        loss = self.loss[np.all(self.values == list(best.values()), axis=1)][0]
        return f"log loss {loss:.4f} at " + ", ".join(parts)


def left_out_losses(
    data: LinearData, cost: float, margin: float, scale: float, intercept: bool, seed: int = 0
) -> FloatArray:
    """Log loss of every row as all others forecast it, under a Gaussian prior of some scale.

    Parameters
    ----------
    data : LinearData
        Dense rows in memory, as they are sampled.
    """
    size = data.values.shape[1] + int(intercept)
    prior = prior_belief("gaussian", scale, size)
    signs = np.where(np.arange(data.n_classes) == data.label[:, None], 1.0, -1.0)
    signs = signs[:, 1:] if data.n_classes == 2 else signs
    rows = data.values
    if intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    number = data.weight if data.number is None else data.number
    single = cost * data.weight / np.maximum(number, 1.0)
    means, variances = [], []
    for sign in signs.T:
        part = replace(data, label=(sign > 0.0).astype(np.int8), n_classes=2)
        problem = make_problem(part, prior, cost, margin, intercept)
        anchor = fit_anchor(problem, np.random.default_rng(seed))
        mean, variance = without_rows(problem, anchor, rows, single)
        means.append(mean)
        variances.append(variance if data.unseen is None else variance + data.unseen)
    mean, variance = np.stack(means, axis=1), np.stack(variances, axis=1)
    if data.n_classes == 2:
        mean, variance = mean[:, 0], variance[:, 0]
    else:
        variance = variance_to_leader(variance, leader_of(mean))
    link = fit_link(mean, variance, data.label, data.weight, cost, margin)
    chance = link.probabilities(mean, variance)[np.arange(len(mean)), data.label]
    return np.asarray(-np.log(np.maximum(chance, CERTAIN)))


def without_rows(
    problem: Problem, anchor: GaussianAnchor, rows: FloatArray, cost: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the scores of rows, each without what it does to them itself.

    Parameters
    ----------
    problem : Problem
        Of two classes.
    anchor : GaussianAnchor
    rows : array of shape (n_rows, n_weights)
    cost : array of shape (n_rows,)
        Of the one row that is left out, where equal rows are one.
    """
    _, gradient, hessian = with_prior(problem.prior, anchor, expected_hinges(problem, anchor))
    factor, _ = inverse_factor(hessian)
    spread = rows @ factor
    variance = np.square(spread).sum(axis=1)
    deviation = np.sqrt(np.maximum(np.square(rows @ anchor.factor).sum(axis=1), 1e-300))
    mean, sign = rows @ anchor.mean, problem.sign
    t = (problem.margin - sign * mean) / deviation
    alone = 1.0 - np.minimum(cost * normal_density(t) / deviation * variance, MOST_OWN)
    step = spread @ (factor.T @ gradient) + variance * cost * sign * ndtr(t)
    return mean - step / alone, variance / alone


def searched(
    names: Sequence[str],
    start: Candidate,
    steps: Mapping[str, Sequence[float]],
    losses: Callable[[Candidate], FloatArray],
    weight: FloatArray,
    rounds: int = 2,
) -> Profile:
    """The best candidate that a walk along one setting after another finds.

    Parameters
    ----------
    start : tuple of float
    steps : mapping of str to sequence of float
        For each setting the factors that are tried, of the first round; later rounds try their
        roots, to look closer.
    losses : callable
        Log losses of the rows under a candidate.
    weight : array of shape (n_rows,)
    """
    seen: dict[Candidate, FloatArray] = {}

    def worth(candidate: Candidate) -> float:
        if candidate not in seen:
            seen[candidate] = losses(candidate)
        return float(np.average(seen[candidate], weights=weight))

    best, least = start, worth(start)
    for turn in range(rounds):
        for k, name in enumerate(names):
            factors = [float(factor) ** (0.5**turn) for factor in steps[name]]
            centre = best
            for factor in factors if turn == 0 else (factors[0], 1.0 / factors[0]):
                one = (*centre[:k], float(f"{centre[k] * factor:.3g}"), *centre[k + 1 :])
                value = worth(one)
                if value < least:
                    best, least = one, value
    return profile_of(names, list(seen), list(seen.values()), weight)


def profile_of(
    names: Sequence[str],
    candidates: Sequence[Candidate],
    losses: Sequence[FloatArray],
    weight: FloatArray,
) -> Profile:
    """The profile of candidates, given the log losses of all rows under each."""
    mean = [float(np.average(one, weights=weight)) for one in losses]
    best = losses[int(np.argmin(mean))]
    spread = [
        np.average(np.square(one - best - np.average(one - best, weights=weight)), weights=weight)
        for one in losses
    ]
    behind = np.sqrt(np.array(spread) / len(weight))
    return Profile(tuple(names), np.array(candidates), np.array(mean), behind)


def part_of(data: LinearData, most: int, rng: np.random.Generator) -> tuple[LinearData, IntArray]:
    """Some rows, at least some of every class, that a choice is made on."""
    n_rows = len(data.label)
    if n_rows <= most:
        return data, np.arange(n_rows)
    order = rng.permutation(n_rows)
    rank = np.empty(n_rows)
    for k in range(data.n_classes):
        own = order[data.label[order] == k]
        rank[own] = (np.arange(len(own)) + 0.5) / len(own)
    index = np.sort(np.argsort(rank, kind="stable")[:most])
    return data.at(index), index
