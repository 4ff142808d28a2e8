"""Time of one sweep against the number of rows, 10^3 to 10^6: it should be a straight line.

Met if the exponent of a power law through all sizes lies between 0.9 and 1.1.

Usage::

    python benchmarks/infinite_svm_scaling.py [--largest 1000000]
"""

import warnings

import numpy as np

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc import InfiniteSVC
from options import command_line
from reporting import RESULTS, finish

SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
CENTRES, FEATURES = 20, 10


def rows_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters, each with its own linear boundary."""
    rng = np.random.default_rng(0)
    centres, normals = rng.normal(0, 2, (2, CENTRES, FEATURES))
    cluster = rng.integers(0, CENTRES, count)
    noise = rng.normal(size=(count, FEATURES))
    return centres[cluster] + noise, np.einsum("dj,dj->d", noise, normals[cluster]) > 0


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    sizes = [s for s in SIZES if s <= options.largest]
    X, y = rows_of(sizes[-1])
    InfiniteSVC(n_sweeps=2, random_state=0).fit(X[:500], y[:500])
    for size in sizes:
        sweeps = max(3, min(30, 300_000 // size))
        model = InfiniteSVC(
            sampler__n_clusters=CENTRES, n_sweeps=sweeps, n_draws=1, components__scatter=0.2,
            sampler__split_merge=0, sampler__inner_steps=10, prediction="probability",
            random_state=0,
        ).fit(X[:size], y[:size])  # fmt: skip
        seconds = (model.timings_["assignments"] + model.timings_["weights"]) / sweeps
        rows.append([size, sweeps, seconds, 1e6 * seconds / size,
                     float(model.n_components_.mean())])  # fmt: skip
        print(rows[-1], flush=True)
    logs = np.log([[row[0], row[2]] for row in rows])
    slope = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    draw(rows)
    print(f"processor time per sweep grows as rows^{slope:.2f}")
    header = ["rows", "sweeps", "seconds per sweep", "microseconds per row", "components"]
    finish("infinite_svm_scaling", header, rows, 0.9 <= slope <= 1.1)


def draw(rows: list[list[float]]) -> None:
    """Log-log picture of the sweep times with a line of slope one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    x = np.array([row[0] for row in rows])
    seconds = np.array([row[2] for row in rows])
    axes.loglog(x, seconds, "o-", label="measured")
    axes.loglog(x, x * seconds[-1] / x[-1], "--", color="grey", label="slope 1")
    axes.set_xlabel("rows")
    axes.set_ylabel("processor seconds a sweep")
    axes.legend()
    figure.savefig(RESULTS / "infinite_svm_scaling.png", dpi=120)


if __name__ == "__main__":
    main()
