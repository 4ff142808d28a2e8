"""Cost, width and number of features by the log loss of rows left out.

How that is told is in :mod:`bayesmargin.models.linear.choosing`. Of many rows some thousand decide,
of many features those in which the rows vary most. A candidate costs the features of its width,
once, and a Gaussian fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.kernel.fourier import fit_features
from bayesmargin.models.kernel.kernels import Kernel
from bayesmargin.models.linear.choosing import (
    ENOUGH,
    Candidate,
    Profile,
    part_of,
    profile_of,
    searched,
)
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import GaussianFits, matched_fits

ROWS = 2000  # that decide, at most
SIZING = 8000  # that decide about the number of features of two classes: more rows want more
FEATURES, TRIED, LEAST = 100, 1000, 50  # of a candidate, of all of its scores, and no fewer than
MOST, TOGETHER = 400, 3000  # features of a model, and of all of its scores together
MANY, FINER = (5_000, 200_000), 700  # rows of two classes that are worth more features, and these
NEARLY = 1.25  # times as many features that are not worth a comparison
USUAL_COST = 10.0
THIN = 2  # landmarks for each feature of a candidate
CLOSE_ENOUGH = 0.05  # deviations of the posterior, of a candidate's Gaussian
SEVERAL = 3  # scores up to which a walk looks closer at the end
STEPS = {"C": (10**0.5, 0.01, 10.0), "gamma": (4.0, 1 / 64, 16.0)}
CLOSER = {
    "C": (10**0.5, 0.1),
    "gamma": (2.0, 0.25),
}  # steps once there are more features, and down to


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what the choice was between."""

    C: float
    gamma: float
    n_components: int
    profile: Profile | None
    sizes: Profile | None


@dataclass(frozen=True)
class Question:
    """Rows and settings among which ``auto`` chooses.

    Parameters
    ----------
    data : LinearData
        Rows of the kernel, before they are features.
    columns : array of shape (n_rows,)
        Numbers that rows have in a precomputed matrix.
    known : mapping
        ``C`` and ``gamma``, as far as they are given.
    usual : float
        The ``gamma`` to begin with.
    n_components : int or None
        Number of features, if it is given.
    """

    kernel: Kernel
    data: LinearData
    columns: IntArray
    margin: float
    scale: float
    known: Mapping[str, float]
    usual: float
    n_components: int | None

    def choose(self, rng: np.random.Generator) -> Choice:
        """The best candidate on some of the rows."""
        part, index = part_of(self.data, ROWS, rng)
        trial = _Trial(self, part, self.columns[index], int(rng.integers(1 << 31)))
        names = [name for name in STEPS if name not in self.known]
        found = {"C": USUAL_COST / self.margin, "gamma": self.usual, **self.known}
        blocks = 1 if part.n_classes == 2 else part.n_classes
        n_rows = self.data.n_all or len(self.data.label)
        worth = MANY[0] < n_rows <= MANY[1] and blocks == 1
        most = min(max(LEAST, TOGETHER // blocks), FINER if worth else MOST, len(part.label))
        size = min(self.n_components or FEATURES, max(LEAST, TRIED // blocks), most)
        size = most if most <= NEARLY * size and self.n_components is None else size
        profile = None
        if names:

            def of_candidate(candidate: Candidate) -> FloatArray:
                now = {**found, **dict(zip(names, candidate, strict=True))}
                return trial.losses(now["C"], now["gamma"], size)

            first = tuple(found[name] for name in names)
            rounds = 2 if blocks <= SEVERAL else 1
            profile = searched(names, first, STEPS, of_candidate, part.weight, rounds)
            found |= profile.best
        sizes, wanted = None, self.n_components
        if wanted is None and blocks > 1:
            wanted = most  # more were always better, which rows left out do not show
        elif wanted is None:
            more = trial
            if len(self.data.label) > ROWS:
                part, index = part_of(self.data, SIZING, rng)
                more = _Trial(self, part, self.columns[index], trial.seed)
            sizes = more.sizes(found["C"], found["gamma"], size, most)
            wanted = int(sizes.best["n_components"])
            if names and wanted > size and more is not trial:
                part, index = part_of(self.data, ROWS, rng)
                other = _Trial(self, part, self.columns[index], trial.seed)
                profile = self._closer(other, found, wanted)
                found |= profile.best
        return Choice(found["C"], found["gamma"], wanted, profile, sizes)

    def _closer(self, trial: "_Trial", found: Mapping[str, float], size: int) -> Profile:
        """Another walk from what was found, with as many features as the model will have.

        Few features hold wide kernels alone, which is what they choose.
        """
        start = {"C": USUAL_COST / self.margin, "gamma": self.usual}
        steps = {}
        for name, (factor, least) in CLOSER.items():
            most = STEPS[name][2] * start[name] / found[name]
            steps[name] = (factor, least, min(1.0 / least, most))
        names = [name for name in STEPS if name not in self.known]

        def of_candidate(candidate: Candidate) -> FloatArray:
            now = {**found, **dict(zip(names, candidate, strict=True))}
            return trial.losses(now["C"], now["gamma"], size)

        first = tuple(found[name] for name in names)
        return searched(names, first, steps, of_candidate, trial.part.weight, 1)


class _Trial:
    """Candidates on some rows; what one has computed is kept for its neighbours."""

    def __init__(self, question: Question, part: LinearData, columns: IntArray, seed: int) -> None:
        self.question, self.part, self.columns, self.seed = question, part, columns, seed
        self.rows: dict[tuple[float, int], LinearData] = {}
        self.fits: dict[tuple[float, int], dict[float, GaussianFits]] = {}

    def losses(self, C: float, gamma: float, size: int) -> FloatArray:
        """Log losses of the rows left out, under a model of so many features."""
        asked = self.question
        rows, near = self._features(gamma, size), self.fits.setdefault((gamma, size), {})
        other = min(near, key=lambda cost: abs(np.log(cost / C)), default=C)
        facts = (C, asked.margin, asked.scale, True, near.get(other), CLOSE_ENOUGH, False)
        near[C] = matched_fits(rows, *facts)
        return near[C].losses(near[C].left_out())

    def sizes(self, C: float, gamma: float, size: int, most: int) -> Profile:
        """Models of twice as many features each time, as long as that is worth anything."""
        counts, tried = [size], [self.losses(C, gamma, size)]
        while counts[-1] < most:
            counts.append(min(2 * counts[-1], most))
            tried.append(self.losses(C, gamma, counts[-1]))
            before, now = (np.average(one, weights=self.part.weight) for one in tried[-2:])
            if now > (1.0 - ENOUGH) * before:
                break
        candidates = [(float(count),) for count in counts]
        return profile_of(["n_components"], candidates, tried, self.part.weight)

    def _features(self, gamma: float, size: int) -> LinearData:
        if (gamma, size) not in self.rows:
            facts = (self.question.kernel, gamma, self.part.values, self.columns, size)
            found = fit_features(*facts, np.random.default_rng(self.seed), THIN * size)
            features, rest, _ = found.features(self.part.values)
            rest *= self.question.scale**2
            self.rows[gamma, size] = replace(self.part, values=features, unseen=rest)
        return self.rows[gamma, size]


def usual_gamma(values: FloatArray) -> float:
    """One over the number of columns times the variance of all values."""
    variance = float(values.var())
    return 1.0 / (values.shape[1] * variance) if variance > 0.0 else 1.0
