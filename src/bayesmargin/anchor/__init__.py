"""The anchor: a Gaussian near the posterior, found without tuning, around which chains run."""

import numpy as np

from bayesmargin.anchor.binary import fit_binary_anchor
from bayesmargin.anchor.gaussian import GaussianAnchor
from bayesmargin.anchor.multiclass import fit_multiclass_anchor
from bayesmargin.problem import Problem


def fit_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian near the posterior of ``problem``."""
    if problem.is_binary:
        return fit_binary_anchor(problem)
    return fit_multiclass_anchor(problem, rng)
