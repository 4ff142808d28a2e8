"""Sweeps over groups of components in threads: what they save, and what they cost.

    python benchmarks/infinite_svm_groups.py [--seeds 5] [--sweeps 20000]

IJCNN1 has rows enough for threads to pay: seconds of a fit on the clock, accuracy and components,
with one chain and the other settings of ``infinite_svm.py``. On 400 rows of two moons the chains
settle: with any number of groups they must find the same components. There the effective draws
of their number in 1,000 sweeps tell what is lost, since a row meets only the components of its
group.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.foundation.threads import n_threads
from bayesmargin.models.infinite_svc import InfiniteSVC
from infinite_svm import mixture
from infinite_svm_peers import load
from options import command_line
from reporting import finish

GROUPS = (1, 2, 4)
HEADER = (
    *("data", "groups", "threads", "seconds", "accuracy", "error", "components"),
    *("error of these", "effective draws in 1000 sweeps"),
)
LEAST_GAIN = 1.4  # of a fit with two groups in two threads
CHAINS = 4


def timed(groups: int, seeds: int, data: Any) -> list[Any]:
    """Fits of IJCNN1."""
    X, y, X_test, y_test = data
    threads = n_threads(-1, groups)
    seconds, accuracy, components = [], [], []
    for seed in range(seeds):
        model = mixture("ijcnn1", "ssgnht", seed, quick=False)
        model.set_params(sampler__groups=groups, n_jobs=-1, n_chains=1)
        began = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - began)
        accuracy.append(100.0 * model.score(X_test, y_test))
        components.append(float(model.n_components_.mean()))
    errors = [np.std(values, ddof=1) / np.sqrt(seeds) for values in (accuracy, components)]
    numbers = (np.mean(accuracy), errors[0], np.mean(components), errors[1])
    return ["ijcnn1", groups, threads, float(np.mean(seconds)), *map(float, numbers), "-"]


def settled(groups: int, sweeps: int) -> list[Any]:
    """Long chains on two moons."""
    X, y = make_moons(400, noise=0.15, random_state=0)
    model = InfiniteSVC(
        sampler="hmc", n_sweeps=sweeps, sampler__groups=groups, n_chains=CHAINS, prediction="vote",
        random_state=0,
    )  # fmt: skip
    began = time.perf_counter()
    numbers = model.fit(X, y).n_components_.astype(float)
    seconds = time.perf_counter() - began
    effective = effective_sample_size(numbers)
    error = numbers.std() / np.sqrt(effective)
    share = 1000.0 * effective / numbers.size
    figures = (seconds, 100.0 * model.score(X, y), "-", numbers.mean(), error, share)
    return ["two moons", groups, 1, *(f if f == "-" else float(f) for f in figures)]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=20_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load("ijcnn1")
    for groups in GROUPS:  # kernels are compiled
        InfiniteSVC(n_sweeps=12, sampler__groups=groups, n_jobs=-1).fit(
            data[0][::50], data[1][::50]
        )
    table = [timed(groups, options.seeds, data) for groups in GROUPS]
    table += [settled(groups, options.sweeps) for groups in GROUPS]
    one, two = table[:2]
    gain = one[3] / two[3]
    bounds = [
        {
            "bound": f"ijcnn1: two groups in {two[2]} threads take {LEAST_GAIN} times less time",
            "measured": f"{gain:.2f}",
            "met": bool(gain >= LEAST_GAIN),
        }
    ]
    for row in table[1:3]:
        gap, error = row[4] - one[4], float(np.hypot(row[5], one[5]))
        bounds.append(
            {
                "bound": f"ijcnn1, {row[1]} groups: accuracy within two standard errors",
                "measured": f"{gap:+.2f} points, error {error:.2f}",
                "met": bool(abs(gap) <= 2.0 * error),
            }
        )
    plain = table[3]
    for row in table[4:]:
        gap, error = row[6] - plain[6], float(np.hypot(row[7], plain[7]))
        bounds.append(
            {
                "bound": f"two moons, {row[1]} groups: components within three standard errors",
                "measured": f"{gap:+.3f}, error {error:.3f}",
                "met": bool(abs(gap) <= 3.0 * error),
            }
        )
    finish("infinite_svm_groups", HEADER, table, all(b["met"] for b in bounds), bounds)


if __name__ == "__main__":
    main()
