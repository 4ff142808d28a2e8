"""The validation page: every sampler against the truth, written by ``make validation``.

Run as ``python -m bayesmargin.validation.page docs``; with ``--real`` also on IJCNN1 and a9a, which
takes minutes.
"""

import argparse
import platform
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.diagnostics import effective_sample_size
from bayesmargin.problem import Problem
from bayesmargin.progress import Silence
from bayesmargin.random import spawn_generators
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
from bayesmargin.sampling import sample
from bayesmargin.types import FloatArray
from bayesmargin.validation import figures
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
from bayesmargin.validation.stein import kernel_stein_discrepancy

# Lengths are fixed here so that costs compare; the stochastic steps are the defaults.
SAMPLERS: dict[str, Sampler] = {
    "SubgradientHMC": SubgradientHMC(thin=1, burn_in=300),
    "LangevinMC": LangevinMC(thin=2, burn_in=300),
    "AugmentationGibbs": AugmentationGibbs(thin=1, burn_in=200),
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


def table(rows: list[Row], curves: dict[str, BiasCurve]) -> Iterator[str]:
    """The table as lines of Markdown."""
    names = "mean error (sd) | variance ratio | order in h | µs per effective draw"
    yield f"| sampler | target | {names} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        family = row.sampler.rsplit(", h ", 1)[0]
        order = f"{curves[family].order:.2f}" if family in curves else "exact"
        if "epsilon 0.01" in row.sampler:
            order = "no step; test error"
        yield (
            f"| {row.sampler} | {row.scene} | {row.mean_error:.3f} ± {row.mean_noise:.3f} | "
            f"{row.variance_ratio:.3f} ± {row.variance_noise:.3f} | {order} | "
            f"{row.microseconds:.1f} |"
        )


HEAD = """# Validation

Written by `make validation`; no figure here was typed by hand. Machine: {machine}, one core.

Every sampler of the library meets posteriors whose moments are known by integration. The mean error
is the worst over the weights, in posterior standard deviations; the variance ratio is the mean over
the weights; both carry one Monte Carlo standard error ({n_chains} chains of {n_draws} draws). The
order is the exponent of the step that fits the bias of a second moment (figure below). The cost
counts all processor time of a run, preparation included, over the smallest effective sample size.

"""
GEWEKE = """
## Geweke tests

Weights and labels drawn jointly in two ways, by rejection and by a chain that alternates labels
given weights with one transition of the sampler (three rows, two weights). The scores are standard
normal for a kernel that is right; the last panel shows a step that is too large being caught.

![Quantiles of the two simulators](validation/geweke.png)

"""
RANKS = """
## Simulation-based calibration

Ranks of the true weights among {draws} draws, over {sets} simulated data sets; the band holds 99%
of the bars of a right sampler.

![Rank histograms](validation/ranks.png)
"""
BIAS = """
## Bias against step

Second moment of `U = x²/2 + 3 (1 - x)₊`, full gradients, mean over thirty independent copies of the
weight.

![Bias against step](validation/bias.png)

"""
PLANE = """
## A posterior in the plane

A thousand rows on the unit square with labels from the normalised pseudo-likelihood. Contours hold
50, 90 and 99% of the density by integration. The kernel Stein discrepancy compares 1000 draws of
each sampler with the gradient of the posterior; a small p-value is evidence against the draws.

![The same posterior from every sampler](validation/plane.png)

"""


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


def write(folder: Path, real: bool) -> None:
    """Compute everything and write the page with its figures."""
    pictures = folder / "validation"
    pictures.mkdir(parents=True, exist_ok=True)
    rows, plane_draws = [], {}
    for scene, make in SCENES.items():
        problem = make()
        truth = quadrature(problem, 300 if scene.startswith("plane") else None)
        for name in SAMPLERS:
            row, draws = measure(name, scene, problem, truth)
            rows.append(row)
            if scene.startswith("plane"):
                plane_draws[name] = draws
    curves, geweke = orders(), geweke_results()
    n_sets, n_draws = 300, 19
    ranks = rank_results(n_sets, n_draws)
    figures.quantile_plots(geweke, pictures / "geweke.png")
    figures.rank_histograms(ranks, pictures / "ranks.png")
    figures.bias_curves(curves, pictures / "bias.png")
    figures.plane_panels(truth, plane_draws, pictures / "plane.png")
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    parts = [HEAD.format(machine=machine, n_chains=N_CHAINS, n_draws=N_DRAWS)]
    parts += [line + "\n" for line in table(rows, curves)]
    parts += [GEWEKE, "| sampler | worst score | p-value |\n| --- | --- | --- |\n"]
    parts += [f"| {name} | {g.worst:.2f} | {g.p_value:.3g} |\n" for name, g in geweke.items()]
    parts += [RANKS.format(draws=n_draws, sets=n_sets), BIAS]
    parts += ["| sampler | order | standard error |\n| --- | --- | --- |\n"]
    parts += [f"| {n} | {c.order:.2f} | {c.order_error:.2f} |\n" for n, c in curves.items()]
    parts += [PLANE, "| sampler | squared discrepancy | p-value |\n| --- | --- | --- |\n"]
    for name, draws in plane_draws.items():
        flat = draws.reshape(-1, draws.shape[-1])
        chosen = flat[np.linspace(0, len(flat) - 1, 1000).astype(int)]
        stein = kernel_stein_discrepancy(problem, chosen)
        parts.append(f"| {name} | {stein.squared:.2e} | {stein.p_value:.3f} |\n")
    if real:
        parts += ["\n## Real data: exact Gibbs against HMC\n\n"]
        parts += [line + "\n" for line in real_data()]
    (folder / "validation.md").write_text("".join(parts), encoding="utf-8")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the page goes")
    parser.add_argument("--real", action="store_true", help="also compare on IJCNN1 and a9a")
    given = parser.parse_args()
    write(given.folder, given.real)


if __name__ == "__main__":
    main()
