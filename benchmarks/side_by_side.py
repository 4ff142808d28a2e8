"""Chains that read every row together, in long steps, beside exact Hamiltonian Monte Carlo.

    python benchmarks/side_by_side.py [CASE ...] [--fewer N] [--diffusions A ...] [--full-limit N]
        [--seed S]

Rows are IJCNN1 through ``Nystroem(gamma=2)`` times ten, indicators with a rare class, and clouds of
unit variance in several classes. Means and variances of the weights, whitened by the anchor, and
for several classes of their differences from the mean over classes, are set beside those of
``SubgradientHMC``, whose Metropolis test makes it exact. Chance, by the effective draws of both
sides, is taken out of the root mean squares. A case takes minutes on four cores, and has a file of
its own in ``results/``.
"""

import time

import numpy as np

import bayesmargin.approximation.multiclass as multiclass
import bayesmargin.samplers.stochastic as stochastic
from bayesmargin.approximation import fit_anchor
from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.models.linear.fitting import LinearData, make_problem, merged
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.rows.sparse import canonical
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import SSGNHT, SubgradientHMC
from bayesmargin.targets.problem import Problem
from rare_indicators import rare_indicators
from scaling import clouds, rows_of

CASES = {  # columns, rows, classes, draws a chain of HMC
    "100_features": (100, 10_000, 2, 8000),
    "300_features": (300, 15_000, 2, 6000),
    "rare_indicators": (277, 12_000, 2, 6000),
    "10_classes": (32, 4000, 10, 5000),
    "30_classes": (32, 4000, 30, 4000),
}
MORE = 3  # draws of the chains side by side for one of HMC
MEAN, VARIANCE = 0.05, 0.03  # deviations and share that may be missed


def problem_of(case: str, shrink: int) -> Problem:
    """Posterior of a case."""
    n_columns, n_rows, n_classes, _ = CASES[case]
    if case == "rare_indicators":
        rows, y = rare_indicators(n_rows // shrink)
        data = merged(LinearData(canonical(rows), y, np.ones(len(y)), 2))
        prior = GaussianBelief(np.zeros(n_columns + 1), np.ones(n_columns + 1))
        return make_problem(data, prior, 1.0, 1.0, True)
    if n_classes == 2:
        X, y = rows_of("ijcnn1", n_columns, n_rows // shrink)
        y = (np.asarray(y) == np.max(y)).astype(np.int64)
    else:
        X, y = clouds(n_rows // shrink, n_columns, n_classes)
    size = (n_columns + 1) * (1 if n_classes == 2 else n_classes)
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    return Problem(DenseSource(X, True), y, n_classes, np.ones(len(y)), 1.0, prior)


def figures(problem: Problem, weights: np.ndarray, anchor) -> tuple:
    """Means, variances and effective draws of both, in whitened weights or contrasts."""
    table = weights.reshape(*weights.shape[:2], problem.n_blocks, -1)
    if problem.n_blocks > 1:
        table = table - table.mean(axis=2, keepdims=True)
        flat = table.reshape(*weights.shape[:2], -1) / np.sqrt(anchor.variances())
    else:
        flat = (weights - anchor.mean) @ np.linalg.inv(anchor.factor).T
    mean = flat.mean(axis=(0, 1))
    spread = flat.var(axis=(0, 1))
    squares = effective_sample_size((flat - mean) ** 2)
    return mean, spread, effective_sample_size(flat), squares


def compared(
    case: str, shrink: int, fewer: int, diffusions: list[float], seed: int
) -> tuple[list, list]:
    """Rows of the table and the bounds of a case."""
    problem = problem_of(case, shrink)
    n_draws = CASES[case][3] // (shrink * fewer)
    anchor = fit_anchor(problem, spawn_generators(2, 1)[0])

    def run(sampler, times: int) -> tuple:
        began = time.process_time()
        done = sample(problem, sampler, spawn_generators(seed, 5), times * n_draws, 4, Silence())
        spent = time.process_time() - began
        return figures(problem, done.weights, anchor), done, spent

    exact, _, spent = run(SubgradientHMC(), 1)
    rows = [[case, "hmc", *[float("nan")] * 3, float(exact[2].min()), spent, *[float("nan")] * 5]]
    bounds = []
    for diffusion in diffusions:
        found, done, spent = run(SSGNHT(integrator="badodab", diffusion=diffusion), MORE)
        made = judged(f"{case}, diffusion {diffusion:g}", exact, found)
        rows.append(
            [
                case,
                f"diffusion {diffusion:g}",
                done.info["step"],
                done.info["batch_size"] == done.info["rows_in_reach"],
                done.diagnostics.n_iterations,
                float(found[2].min()),
                spent,
                *made[0],
            ]
        )
        bounds += made[1]
    return rows, bounds


def judged(name: str, exact: tuple, found: tuple) -> tuple[list, list]:
    """How far means and variances are from the exact ones, and whether that is near enough."""
    (mean, spread, ess, squares), (other, wide, more, square) = exact, found
    off = (other - mean) / np.sqrt(spread)
    chance = 1.0 / ess + 1.0 / more
    ratio, doubt = wide / spread, 2.0 / squares + 2.0 / square
    beyond = float(np.sqrt(max(0.0, np.mean(off**2) - chance.mean())))
    uneven = float(np.sqrt(max(0.0, np.mean((ratio - 1.0) ** 2) - doubt.mean())))
    worst, errors = float(np.abs(off).max()), float(np.max(np.abs(off) / np.sqrt(chance)))
    near = bool(np.all(np.abs(off) < MEAN + 4.0 * np.sqrt(chance)))
    bounds = [
        {
            "bound": f"{name}: means within {MEAN} deviations beyond chance",
            "measured": f"rms {beyond:.4f}, worst {worst:.3f} with chance",
            "met": beyond <= MEAN and near,
        },
        {
            "bound": f"{name}: variances within {VARIANCE:.0%} beyond chance",
            "measured": f"mean ratio {ratio.mean():.4f}, spread of ratios {uneven:.4f}",
            "met": bool(abs(ratio.mean() - 1.0) <= VARIANCE and uneven <= VARIANCE),
        },
    ]
    return [beyond, worst, errors, float(ratio.mean()), uneven], bounds


def main() -> None:
    from options import command_line
    from reporting import finish, print_table

    parser = command_line(__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--shrink", type=int, default=1, help="a part of rows and draws; not kept")
    parser.add_argument("--fewer", type=int, default=1, help="a part of the draws; is kept")
    parser.add_argument("--diffusions", nargs="+", type=float, default=[1.0])
    parser.add_argument("--seed", type=int, default=1, help="of the chains")
    parser.add_argument("--full-limit", type=int, help="weights with one covariance, at most")
    options = parser.parse_args()
    stochastic.COSTLY, stochastic.CHEAPER, stochastic.CHEAPER_CLASSES = 1, 1e9, 1e9  # always
    if options.full_limit:
        multiclass.FULL_LIMIT = options.full_limit
    header = ["case", "sampler", "step", "all rows", "iterations", "ess", "processor", "means off"]
    header += ["worst", "in errors", "variance ratio", "uneven"]
    for case in options.cases:
        rows, bounds = compared(
            case, options.shrink, options.fewer, options.diffusions, options.seed
        )
        if options.shrink > 1:
            print_table(header, rows)
        else:
            name = f"side_by_side_{case}" + ("_full" if options.full_limit else "")
            name += f"_seed_{options.seed}" if options.seed != 1 else ""
            finish(name, header, rows, all(b["met"] for b in bounds), bounds)


if __name__ == "__main__":
    main()
