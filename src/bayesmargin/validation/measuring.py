"""What the validation page shows: every sampler measured against the truth, by fixed settings."""

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    AusterityMetropolis,
    LangevinMC,
    Sampler,
    SubgradientHMC,
)
from bayesmargin.targets.problem import Problem
from bayesmargin.validation.agreement import agreement, monte_carlo_error
from bayesmargin.validation.bias import BiasCurve, bias_curve
from bayesmargin.validation.calibration import CalibrationRanks, calibration_ranks
from bayesmargin.validation.geweke import GewekeResult, geweke_test
from bayesmargin.validation.problems import (
    GEWEKE_ROWS,
    five_rows,
    many_kinks,
    one_kink,
    small_problem,
    synthetic_plane,
    three_classes,
)
from bayesmargin.validation.quadrature import Reference, quadrature

# Lengths are fixed here so that costs compare; the stochastic steps are the defaults.
SAMPLERS: dict[str, Sampler] = {
    "SubgradientHMC": SubgradientHMC(thin=1, burn_in=300),
    "LangevinMC": LangevinMC(thin=2, burn_in=300),
    "AugmentationGibbs": AugmentationGibbs(thin=1, burn_in=200),
    "AugmentationGibbs, single": AugmentationGibbs(arithmetic="single", thin=1, burn_in=200),
    "AusterityMetropolis, epsilon 0": AusterityMetropolis(epsilon=0.0, thin=6, burn_in=600),
    "AusterityMetropolis, epsilon 0.01": AusterityMetropolis(
        epsilon=0.01, batch_size=200, thin=6, burn_in=600
    ),
    "SSGLD, h 0.2": SSGLD(step=0.2, thin=25, burn_in=2500),
    "SSGNHT, SSI, h 0.2": SSGNHT(step=0.2, thin=10, burn_in=1000),
    "SSGNHT, Euler, h 0.05": SSGNHT(step=0.05, integrator="euler", thin=40, burn_in=4000),
    "SGHMC, h 0.1": SGHMC(step=0.1, thin=20, burn_in=2000),
}
RAW: dict[str, Any] = {"preconditioner": None, "control_variates": False}
KERNELS: dict[str, tuple[Sampler, int]] = {
    "SubgradientHMC": (SubgradientHMC(step=0.4, n_steps=4), 1),
    "LangevinMC": (LangevinMC(step=1.0), 1),
    "AugmentationGibbs": (AugmentationGibbs(), 1),
    "AugmentationGibbs, single": (AugmentationGibbs(arithmetic="single"), 1),
    "AusterityMetropolis": (AusterityMetropolis(epsilon=0.0, step=1.0, preconditioner=None), 3),
    "SSGLD, h 0.15": (SSGLD(step=0.15, **RAW), 60),
    "SSGNHT, h 0.1": (SSGNHT(step=0.1, **RAW), 10),
    "SGHMC, h 0.02": (SGHMC(step=0.02, **RAW), 50),
    "SSGLD, h 1: a step too large": (SSGLD(step=1.0, **RAW), 2),
}
SCENES = {
    "one kink (1 weight, 1 row)": one_kink,
    "five rows (2 weights)": five_rows,
    "three classes (3 weights, 4 rows)": three_classes,
    "plane (2 weights, 1000 rows)": synthetic_plane,
}
N_DRAWS, N_CHAINS = 4000, 4


class Row(NamedTuple):
    """One line of the table."""

    sampler: str
    scene: str
    mean_error: float
    mean_noise: float
    variance_ratio: float
    variance_noise: float
    microseconds: float


def measure(name: str, scene: str, problem: Problem, truth: Reference) -> tuple[Row, FloatArray]:
    """Run one sampler on one target and compare it with quadrature."""
    generators = spawn_generators(1, N_CHAINS + 1)
    with warnings.catch_warnings():
        # A short run first: compilation is no part of the cost of a draw.
        warnings.simplefilter("ignore")
        sample(problem, SAMPLERS[name], spawn_generators(2, 2), 4, 1, Silence())
    began = time.process_time()
    draws = sample(problem, SAMPLERS[name], generators, N_DRAWS, 1, Silence()).weights
    seconds = time.process_time() - began
    variance = np.diag(truth.covariance)
    deviation = np.sqrt(variance)
    mean, error = monte_carlo_error((draws - truth.mean) / deviation)
    ratio, ratio_error = monte_carlo_error((draws - truth.mean) ** 2 / variance)
    worst = int(np.abs(mean).argmax())
    effective = float(effective_sample_size(draws).min())
    return (
        Row(
            name,
            scene,
            float(np.abs(mean[worst])),
            float(error[worst]),
            float(ratio.mean()),
            float(np.sqrt(np.mean(ratio_error**2))),
            1e6 * seconds / effective,
        ),
        draws,
    )


def orders() -> dict[str, BiasCurve]:
    """Bias of the second moment against the step, full gradients, over independent kinks."""

    def second(weights: FloatArray) -> FloatArray:
        return (weights**2).mean(axis=-1)

    truth = float(quadrature(one_kink()).second[0, 0])
    makers: dict[str, tuple[Any, tuple[float, ...], int, float, int]] = {
        "SSGLD": (lambda h: SSGLD(step=h, **RAW), (0.15, 0.2, 0.25, 0.32, 0.4), 40_000, 1.0, 2),
        "SSGNHT, SSI": (
            lambda h: SSGNHT(step=h, **RAW),
            (0.14, 0.18, 0.23, 0.29, 0.36),
            60_000,
            2.5,
            1,
        ),
        "SSGNHT, Euler": (
            lambda h: SSGNHT(step=h, integrator="euler", **RAW),
            (0.03, 0.045, 0.065, 0.09, 0.13),
            12_000,
            3.0,
            1,
        ),
        "SGHMC": (lambda h: SGHMC(step=h, **RAW), (0.1, 0.14, 0.2, 0.28, 0.4), 10_000, 2.0, 1),
    }
    curves = {}
    for name, (make, steps, n_draws, pace, power) in makers.items():
        thin = [max(1, round(pace / h**power)) for h in steps]
        curves[name] = bias_curve(
            make, many_kinks(), second, steps, n_draws, thin, seed=3, truth=truth
        )
    return curves


def real_data() -> Iterator[str]:
    """Exact Gibbs and HMC against each other where no quadrature reaches."""
    from bayesmargin import datasets

    yield "| data | weights | worst mean score | worst variance score | mean variance ratio |"
    yield "| --- | --- | --- | --- | --- |"
    for name, fetch, n_draws in (
        ("IJCNN1", datasets.fetch_ijcnn1, 3000),
        ("a9a", datasets.fetch_a9a, 1500),
    ):
        rows, target = fetch(subset="train", return_X_y=True)
        dense = np.asarray(rows.todense() if hasattr(rows, "todense") else rows)
        problem = small_problem(dense, (np.asarray(target) > 0).astype(np.int64))
        pair = [
            sample(problem, sampler, spawn_generators(k, 3), n_draws, None, Silence()).weights
            for k, sampler in enumerate([AugmentationGibbs(thin=1, burn_in=200), SubgradientHMC()])
        ]
        found = agreement(*pair)
        spread = float(np.abs(found.variance_scores).max())
        ratio = float(found.variance_ratio.mean())
        yield f"| {name} | {problem.n_weights} | {found.worst:.2f} | {spread:.2f} | {ratio:.3f} |"


def geweke_results() -> dict[str, GewekeResult]:
    """Geweke test of every kernel, and of one that is wrong."""
    problem = small_problem(GEWEKE_ROWS, np.zeros(3, dtype=np.int64), cost=1.2)
    return {
        name: geweke_test(sampler, problem, n_draws=6000, thin=thin, seed=1)
        for name, (sampler, thin) in KERNELS.items()
    }


def rank_results(n_sets: int, n_draws: int) -> dict[str, CalibrationRanks]:
    """Calibration ranks of every kernel."""
    problem = small_problem(GEWEKE_ROWS, np.zeros(3, dtype=np.int64), cost=1.2)
    return {
        name: calibration_ranks(sampler, problem, n_sets, n_draws, thin=4 * thin, seed=2)
        for name, (sampler, thin) in KERNELS.items()
    }
