"""Default settings against exact sampling: are mean and variance right, and at what speed.

    python benchmarks/posterior_accuracy.py [set ...]

The reference is the library's augmentation Gibbs sampler, itself tested against quadrature. Errors
are measured in coordinates whitened by the Gaussian anchor, which neither sampler estimated:
root-mean-square error of the posterior mean (the Monte Carlo error of both runs taken off), the
variance ratio averaged over directions, and the worst marginal standard deviation. Speed is
effective draws a second (the fit of the anchor counted in) against a plain NumPy Gibbs sampler.
"""

import time

import numpy as np
from scipy import linalg

from bayesmargin.approximation import fit_anchor
from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import AugmentationGibbs, Auto
from bayesmargin.targets.problem import Problem
from binary_sets import BINARY_SETS, binary_sets
from options import chosen_sets
from reporting import finish

SWEEPS = {"breast_cancer": 40_000, "digits": 40_000, "a9a": 4_000, "ijcnn1": 6_000, "higgs": 8_000}
HEADER = [
    "set", "rows", "weights", "rmse", "mc_error", "excess", "variance", "worst_sd", "ess_per_s",
    "numpy_ess_per_s", "speedup", "seconds", "met",
]  # fmt: skip


def numpy_gibbs(X: np.ndarray, sign: np.ndarray, sweeps: int, seed: int) -> np.ndarray:
    """Augmentation Gibbs in plain NumPy, c = margin = prior scale = 1."""
    rng = np.random.default_rng(seed)
    n = X.shape[1]
    draws, weights = np.empty((sweeps, n)), np.zeros(n)
    for k in range(sweeps):
        slack = 1.0 - sign * (X @ weights)
        inverse = rng.wald(2.0 / np.maximum(np.abs(slack), 1e-12), 1.0)
        precision = np.eye(n) + 0.25 * (X * inverse[:, None]).T @ X
        linear = X.T @ (sign * (0.5 + 0.25 * inverse))
        lower = linalg.cholesky(precision, lower=True)
        mean = linalg.cho_solve((lower, True), linear)
        weights = mean + linalg.solve_triangular(lower.T, rng.standard_normal(n))
        draws[k] = weights
    return draws


def posterior_of(X: np.ndarray, y: np.ndarray) -> Problem:
    source = DenseSource(X, intercept=True)
    n = source.n_columns
    prior = GaussianBelief(np.zeros(n), np.ones(n))
    label = np.searchsorted(np.unique(y), y)
    return Problem(source, label, 2, np.ones(len(y)), 1.0, prior)


def compare(name: str, X: np.ndarray, y: np.ndarray) -> list[object]:
    problem = posterior_of(X, y)
    factor = fit_anchor(problem, np.random.default_rng(0)).factor
    sample(problem, Auto(), spawn_generators(9, 5), 10, None, Silence())  # compiles
    began = time.perf_counter()
    ours = sample(problem, Auto(), spawn_generators(1, 5), 1000, None, Silence())
    seconds = time.perf_counter() - began
    sweeps = SWEEPS[name] // 4
    gibbs = AugmentationGibbs(burn_in=100, thin=1)
    exact = sample(problem, gibbs, spawn_generators(2, 5), sweeps, None, Silence())
    to_white = np.linalg.inv(factor).T
    a, b = ours.weights @ to_white, exact.weights @ to_white
    scale = b.std(axis=(0, 1))
    error = (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))) / scale
    ess_a, ess_b = effective_sample_size(a), effective_sample_size(b)
    mc_error = float(np.sqrt(np.mean(1.0 / ess_a + 1.0 / ess_b)))
    rmse = float(np.sqrt(np.mean(error**2)))
    excess = float(np.sqrt(max(0.0, rmse**2 - mc_error**2)))
    variance = float(np.mean(a.var(axis=(0, 1)) / b.var(axis=(0, 1))))
    marginal = ours.weights.std(axis=(0, 1)) / exact.weights.std(axis=(0, 1))
    worst = float(np.abs(marginal - 1.0).max())
    speed = float(ess_a.mean()) / seconds
    design = np.column_stack([X, np.ones(len(X))])
    began = time.perf_counter()
    plain = numpy_gibbs(design, problem.sign, 60 + 240, 3)[60:]
    plain_seconds = (time.perf_counter() - began) * 240 / 300
    plain_speed = float(effective_sample_size((plain @ to_white)[None]).mean()) / plain_seconds
    wanted = 100.0 if name in ("ijcnn1", "higgs") else 0.0
    met = excess <= 0.06 and 0.97 <= variance <= 1.03 and worst <= 0.1
    met = met and speed >= wanted * plain_speed
    return [
        name, len(X), problem.n_weights, rmse, mc_error, excess, variance, worst, speed,
        plain_speed, speed / plain_speed, seconds, met,
    ]  # fmt: skip


if __name__ == "__main__":
    table = []
    for name, (X, y, _, _) in binary_sets(chosen_sets(__doc__, BINARY_SETS)):
        table.append(compare(name, X, y))
        print(*table[-1], flush=True)
    finish("posterior_accuracy", HEADER, table, all(row[-1] for row in table))
