"""What it costs until the experts of a mixture are draws from their law, on IJCNN1.

    python benchmarks/infinite_svm_settled.py [--seeds 3]

The settings of ``infinite_svm.py`` are those that accuracy needs: a step or two of the weights in a
sweep, after which experts of thousands of rows are still on their way. Here each weights sampler
climbs a ladder of steps in a sweep until Stein's ratio of the experts, averaged over seeds, is
within 0.1 of one, which is what the diagnostics call right. Steps and batches of the stochastic
sampler are its defaults, for small batches would be too wide in the end. One chain, processor
seconds on one core, kernels compiled before.
"""

import warnings
from typing import Any

import numpy as np

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc import InfiniteSVC
from infinite_svm import measure, mixture
from infinite_svm_peers import load
from options import command_line
from reporting import finish

LADDERS = {"gibbs": (1, 4, 16, 64, 128), "ssgnht": (10, 40, 160, 320)}
HEADER = (
    *("sampler", "steps in a sweep", "Stein's ratio", "error", "accuracy", "error of it"),
    *("weights s", "fit s", "components"),
)
FAR = 0.1  # from one, that the ratio may be
LEAST_WEIGHTS, LEAST_TOTAL = 8.0, 3.0


def model_of(method: str, steps: int, seed: int) -> InfiniteSVC:
    """One chain of the mixture with so many steps, of default length and batches."""
    model = mixture("ijcnn1", method, seed, quick=False)
    return model.set_params(n_chains=1, sampler__weights=method, sampler__inner_steps=steps)


def rung(method: str, steps: int, seeds: int, data: Any) -> dict[str, Any]:
    """Means over seeds."""
    found = []
    for seed in range(seeds):
        model = model_of(method, steps, seed)
        row = measure(model, data)
        ratio, number = model.diagnostics_["experts"]["mean"], model.n_components_.mean()
        found.append(
            [ratio, row["accuracy"], model.timings_["weights"], row["fit_s"], float(number)]
        )
    mean = np.mean(found, axis=0)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(seeds)
    numbers = [mean[0], error[0], mean[1], error[1], mean[2], mean[3], mean[4]]
    return dict(zip(HEADER, [method, steps, *map(float, numbers)], strict=True))


def climb(method: str, seeds: int, data: Any) -> list[dict[str, Any]]:
    """Rungs up to the first on which the experts have settled."""
    small = model_of(method, 2, 0).set_params(n_sweeps=12)  # enough for components to join
    small.fit(data[0][:300], data[1][:300])
    rows = []
    for steps in LADDERS[method]:
        rows.append(rung(method, steps, seeds, data))
        print({key: rows[-1][key] for key in HEADER}, flush=True)
        if settled(rows[-1]):
            break
    return rows


def settled(row: dict[str, Any]) -> bool:
    """Whether Stein's ratio is that of the law."""
    return bool(abs(row["Stein's ratio"] - 1.0) <= FAR)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load("ijcnn1")
    rows = {method: climb(method, options.seeds, data) for method in LADDERS}
    exact, fast = rows["gibbs"][-1], rows["ssgnht"][-1]
    more = "" if settled(exact) else "more than "  # where gibbs has not settled at its last rung
    bounds = [
        {
            "bound": f"{what} {least:g} times less with ssgnht, experts settled",
            "measured": f"{more}{exact[key] / fast[key]:.1f}",
            "met": settled(fast) and exact[key] >= least * fast[key],
        }
        for what, key, least in (
            ("weights", "weights s", LEAST_WEIGHTS),
            ("whole fit", "fit s", LEAST_TOTAL),
        )
    ]
    table = [[row[key] for key in HEADER] for part in rows.values() for row in part]
    met = all(bound["met"] for bound in bounds)
    finish("infinite_svm_settled", HEADER, table, met, bounds)


if __name__ == "__main__":
    main()
