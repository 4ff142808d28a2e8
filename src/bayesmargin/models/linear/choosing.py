r"""Settings chosen by the log loss of rows left out, of which nothing is sampled.

The anchor, the Gaussian closest to a posterior, is found in a few passes, and tells by computation
what the score of every row would be without the row (:mod:`bayesmargin.approximation.dense`). From
these follows the link to probabilities, and from the link the log loss of every row as the others
forecast it. One such fit a candidate tells what a sampled fit of the candidate would be worth:
sampling is left to the best one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.models.linear.fitting import LinearData

Candidate = tuple[float, ...]
"""Values of the settings in question, in their order."""

ENOUGH, HARDLY = 0.003, 1.0  # of the least loss, and of its standard error, that are hardly a loss


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
    def _as_good(self) -> BoolArray:
        """Candidates that hardly lose anything."""
        lost = self.loss - self.loss.min()
        return lost <= np.maximum(ENOUGH * self.loss.min(), HARDLY * self.behind)

    @property
    def best(self) -> dict[str, float]:
        """The candidate nearest to the first, on a scale of logarithms, that hardly loses anything.

        Where nothing is gained by a far one, the first is a better guess.
        """
        away = np.abs(np.log(self.values / self.values[0])).sum(axis=1)
        found = self.values[int(np.argmin(np.where(self._as_good, away, np.inf)))]
        return dict(zip(self.names, map(float, found), strict=True))

    def flat(self) -> dict[str, tuple[float, float]]:
        """Range of every setting over the candidates that hardly lose anything, to within error.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.models.linear.choosing import Profile
        >>> values, behind = np.array([[0.1], [1.0], [10.0]]), np.array([0.02, 0.0, 0.01])
        >>> Profile(("C",), values, np.array([0.31, 0.3, 0.4]), behind).flat()
        {'C': (0.1, 1.0)}
        """
        near = self.values[self._as_good]
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


def searched(
    names: Sequence[str],
    start: Candidate,
    steps: Mapping[str, tuple[float, float, float]],
    losses: Callable[[Candidate], FloatArray],
    weight: FloatArray,
    rounds: int = 2,
) -> Profile:
    """The best candidate that a walk along one setting after another finds.

    Parameters
    ----------
    start : tuple of float
    steps : mapping of str to (float, float, float)
        For each setting the factor of a step of the first round, and the least and the most that
        it may be in units of its start. Steps of every later round are the roots of those before.
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
            factor, lowest, highest = steps[name]
            for direction in (1.0, -1.0):
                moved = False
                while True:
                    value = float(f"{best[k] * factor ** (direction * 0.5**turn):.3g}")
                    one = (*best[:k], value, *best[k + 1 :])
                    share = value / start[k]
                    if not lowest <= 1.01 * share <= 1.02 * highest or worth(one) >= least:
                        break
                    best, least, moved = one, worth(one), True
                if moved:
                    break
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
