"""The posterior of ``BayesianSVC`` beside exact Gibbs sampling on the Gram matrix.

    python benchmarks/kernel_exact.py [--rows 300] [--sweeps 12000] [--processes 4]

Three sets of few rows, every row a landmark; the default, draws of a Gaussian, and chains, of which
the bounds are asked. The Gibbs sampler knows neither features nor anchors:
it draws the scores of all rows from their Gaussian process, given variables that make Gaussians of
the hinges, and these given the scores. Compared are means and variances of the scores of all rows.
"""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import scale

from bayesmargin import BayesianSVC
from bayesmargin.models.kernel.kernels import RBF
from options import command_line
from reporting import finish, keep_part
from workers import add_processes, spread

COST, MARGIN = 2.0, 1.0
CHAINS, DRAWS = 4, 4000
SHIFT, RATIO = 0.05, 0.03
HEADER = ["set", "rows", "components", "sampler", "shift", "worst_shift", "error_of_gibbs",
          "variance_off", "worst_variance_off", "met"]  # fmt: skip


def gibbs(gram: np.ndarray, y: np.ndarray, sweeps: int, seed: int) -> tuple[np.ndarray, ...]:
    """Mean and variance of the scores along one chain, a tenth of it left out."""
    rng, sign = np.random.default_rng(seed), 2.0 * y - 1.0
    values, vectors = linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scores = np.zeros(len(y))
    total, square, count = np.zeros(len(y)), np.zeros(len(y)), 0
    for sweep in range(sweeps):
        bend = np.maximum(np.abs(0.5 * COST * (MARGIN - sign * scores)), 1e-10)
        mixing = 1.0 / rng.wald(1.0 / bend, 1.0)
        target = sign * (MARGIN + 2.0 * mixing / COST)
        noise = 4.0 * mixing / COST**2
        before = root @ rng.standard_normal(len(y))
        away = target - before - np.sqrt(noise) * rng.standard_normal(len(y))
        factor = linalg.cho_factor(gram + np.diag(noise), lower=True, check_finite=False)
        scores = before + gram @ linalg.cho_solve(factor, away, check_finite=False)
        if sweep >= sweeps // 10:
            total, square, count = total + scores, square + scores**2, count + 1
    mean = total / count
    return mean, square / count - mean**2


def sets(rows: int) -> list[tuple[str, np.ndarray, np.ndarray, float]]:
    """Name, rows, labels and width of each set."""
    moons, upper = make_moons(rows, noise=0.3, random_state=0)
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    clouds = rng.standard_normal((rows, 5))
    noisy = (clouds[:, 0] * clouds[:, 1] + 0.5 * rng.standard_normal(rows) > 0.0).astype(int)
    return [
        ("moons", moons, upper, 1.0),
        ("breast_cancer", scale(X)[:rows], y[:rows], 1.0 / 30.0),
        ("products", clouds, noisy, 0.2),
    ]


def main() -> None:
    asking = command_line(__doc__)
    asking.add_argument("--rows", type=int, default=300)
    asking.add_argument("--sweeps", type=int, default=12_000)
    add_processes(asking)
    chosen = asking.parse_args()
    table: list[list[Any]] = []
    for name, X, y, gamma in sets(chosen.rows):
        settings = {"C": COST, "gamma": gamma, "margin": MARGIN, "n_components": len(X)}
        settings |= {"n_chains": CHAINS, "n_draws": DRAWS, "n_jobs": chosen.processes}
        gram = RBF().between(X, X, gamma) + 1.0
        tasks = [(gram, y, chosen.sweeps, seed) for seed in range(CHAINS)]
        chains = list(spread(gibbs, tasks, chosen.processes))
        means = np.array([one[0] for one in chains])
        mean = means.mean(axis=0)
        variance = np.mean([one[1] for one in chains], axis=0) + means.var(axis=0)
        noise = float(np.sqrt(np.mean(means.var(axis=0, ddof=1) / variance) / CHAINS))
        for sampler in ("auto", "ssgnht"):
            model = BayesianSVC(**settings, sampler=sampler, random_state=0).fit(X, y)
            draws = model.posterior_.flat("coef") @ model.map_.features(X)[0].T
            draws += model.posterior_.flat("intercept")[:, None]
            shift = (draws.mean(axis=0) - mean) / np.sqrt(variance)
            ratio = draws.var(axis=0) / variance
            rms, worst = float(np.sqrt(np.mean(shift**2))), float(np.abs(shift).max())
            off = float(ratio.mean() - 1.0)
            met = rms <= SHIFT and abs(off) <= RATIO
            facts = [len(X), model.map_.n_features, model.posterior_.attrs["drawn_by"]]
            widest = float(np.abs(ratio - 1.0).max())
            table.append([name, *facts, rms, worst, noise, off, widest, met])
            print(*table[-1], flush=True)
        keep_part("kernel_exact", name, HEADER, table)
    exact = [row for row in table if row[3] != "Anchor"]
    finish("kernel_exact", HEADER, table, all(row[-1] for row in exact))


if __name__ == "__main__":
    main()
