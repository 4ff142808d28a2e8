"""How many components the stochastic weights sampler finds on the protein folds, beside exact ones.

python benchmarks/infinite_svm_components.py [--seeds 5] [--sweeps 6000] [--samplers all small]

Rows of a minibatch heat the directions that they lie in, which one thermostat for a whole expert
cannot cool: experts that are too loose fit few rows well, and the sampler keeps more of them. The
number of components shows it before accuracy does. With ``--samplers`` the rows of the others are
kept as they were measured; ``--seeds`` and ``--sweeps`` must then be the same.
"""

import json
import warnings

import numpy as np

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc import InfiniteSVC
from infinite_svm_peers import load
from options import command_line
from reporting import RESULTS, finish

NAME = "infinite_svm_components"
HEADER = ["weights sampler", "components", "standard error over seeds"]
SAMPLERS = {
    "gibbs": ("gibbs (exact)", "gibbs", {}),
    "hmc": ("hmc (exact)", "hmc", {}),
    "all": ("ssgnht (default: all rows)", "ssgnht", {"sampler__weights__batch_size": None}),
    "small": ("ssgnht, 16 rows a step", "ssgnht", {"sampler__weights__batch_size": 16}),
}
SETTINGS = {
    **{
        "C": 3.0,
        "prior_scale": 0.3,
        "components__scatter": 0.5,
        "sampler__split_merge": 0,
        "n_chains": 4,
    },
    **{"components__extra_degrees": 0, "prediction": "vote"},  # no link to probabilities is needed
}


def measure(method: str, settings: dict[str, int | None], seeds: int, sweeps: int) -> list[float]:
    """Mean number of components, and its standard error over seeds."""
    X, y, _, _ = load("protein")
    numbers = []
    for seed in range(seeds):
        model = InfiniteSVC(
            sampler=method, n_sweeps=sweeps, n_draws=100, random_state=seed, **SETTINGS, **settings
        )
        numbers.append(float(np.mean(model.fit(X, y).n_components_)))
    return [float(np.mean(numbers)), float(np.std(numbers, ddof=1) / np.sqrt(seeds))]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=6000)
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    file = RESULTS / f"{NAME}.json"
    kept = json.loads(file.read_text())["rows"] if file.exists() else []
    found = {row[HEADER[0]]: [row[key] for key in HEADER[1:]] for row in kept}
    for key in options.samplers:
        name, method, settings = SAMPLERS[key]
        found[name] = measure(method, settings, options.seeds, options.sweeps)
        print(name, found[name], flush=True)
    names = [name for name, *_ in SAMPLERS.values() if name in found]
    exact, error = found[SAMPLERS["gibbs"][0]]
    bounds = [
        {
            "bound": f"{name}: within two standard errors of gibbs",
            "measured": f"{found[name][0]:.2f} against {exact:.2f}",
            "met": bool(abs(found[name][0] - exact) <= 2.0 * np.hypot(found[name][1], error)),
        }
        for name in names[1:]
    ]
    met = all(bound["met"] for bound in bounds)
    finish(NAME, HEADER, [[name, *found[name]] for name in names], met, bounds)


if __name__ == "__main__":
    main()
