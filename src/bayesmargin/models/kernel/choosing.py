"""Cost, width and number of features by the log loss of rows left out.

How that is told is in :mod:`bayesmargin.models.linear.choosing`. Of many rows some thousand decide,
of many features those in which the rows vary most. A candidate costs the features of its width,
once, and a Gaussian fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.kernel.kernels import Kernel
from bayesmargin.models.kernel.landmarks import fit_map
from bayesmargin.models.linear.choosing import (
    Candidate,
    Profile,
    left_out_losses,
    part_of,
    profile_of,
    searched,
)
from bayesmargin.models.linear.fitting import LinearData

ROWS = 2000  # that decide, at most
FEATURES, LEAST = 200, 50  # of a candidate, fewer the more classes there are, and no fewer than
MOST, TOGETHER = 400, 1600  # features of a model, and of all of its scores together
SIZES = (100, 200, 400)  # numbers of features that are compared
USUAL_COST = 10.0
# Costs beyond some thirty make walls of hinges: draws tell little of their rows left out.
STEPS = {"C": (10**-0.5, 10**0.5, 0.1, 0.01), "gamma": (4.0, 0.25, 16.0, 0.0625)}


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
        columns, seed = self.columns[index], int(rng.integers(1 << 31))
        kept: dict[tuple[float, int], tuple[FloatArray, FloatArray]] = {}

        def losses(C: float, gamma: float, size: int, fitted: int) -> FloatArray:
            if (gamma, fitted) not in kept:
                facts = (self.kernel, gamma, part.values, columns, fitted)
                found = fit_map(*facts, np.random.default_rng(seed))
                kept[gamma, fitted] = found.features(part.values)[:2]
            features, rest = kept[gamma, fitted]
            rest = rest + np.square(features[:, size:]).sum(axis=1)
            rows = replace(part, values=features[:, :size], unseen=self.scale**2 * rest)
            return left_out_losses(rows, C, self.margin, self.scale, True, seed)

        names = [name for name in STEPS if name not in self.known]
        found = {"C": USUAL_COST / self.margin, "gamma": self.usual, **self.known}
        blocks = 1 if part.n_classes == 2 else part.n_classes
        most = min(max(LEAST, TOGETHER // blocks), MOST, len(part.label))
        size = min(self.n_components or FEATURES, max(LEAST, FEATURES // blocks), most)
        profile = None
        if names:

            def of_candidate(candidate: Candidate) -> FloatArray:
                now = {**found, **dict(zip(names, candidate, strict=True))}
                return losses(now["C"], now["gamma"], size, size)

            first = tuple(found[name] for name in names)
            profile = searched(names, first, STEPS, of_candidate, part.weight)
            found |= profile.best
        sizes, wanted = None, self.n_components
        if wanted is None:
            counts = [*(count for count in SIZES if count < most), most]
            tried = [losses(found["C"], found["gamma"], count, most) for count in counts]
            sizes = profile_of(["n_components"], [(float(n),) for n in counts], tried, part.weight)
            wanted = int(sizes.best["n_components"])
        return Choice(found["C"], found["gamma"], wanted, profile, sizes)


def usual_gamma(values: FloatArray) -> float:
    """One over the number of columns times the variance of all values."""
    variance = float(values.var())
    return 1.0 / (values.shape[1] * variance) if variance > 0.0 else 1.0
