"""The anchor: a Gaussian near the posterior, found without tuning, around which chains run."""

import numpy as np

from bayesmargin.approximation.binary import fit_binary_anchor
from bayesmargin.approximation.centring import centred
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.multiclass import fit_multiclass_anchor
from bayesmargin.rows.blocks import narrow_blas
from bayesmargin.rows.layout import SparseRows
from bayesmargin.targets.problem import Problem


def fit_close_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """As near as a Gaussian comes without chains: of several classes it is centred once more."""
    anchor = fit_anchor(problem, rng)
    if problem.is_binary:
        return anchor
    with narrow_blas(problem.source.n_columns):
        return centred(problem, anchor, rng)


def fit_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian near the posterior of ``problem``."""
    problem.require_one_hinge()
    if isinstance(problem.source.take(np.arange(1)), SparseRows):
        raise ValueError(
            f"this sampler needs a full covariance, which sparse rows of {problem.source.n_columns}"
            ' columns do not allow: choose sampler="auto", "ssgnht", "sghmc" or "ssgld"'
        )
    with narrow_blas(problem.source.n_columns):
        if problem.is_binary:
            return fit_binary_anchor(problem, rng)
        return fit_multiclass_anchor(problem, rng)
