"""How many components the stochastic weights sampler finds on the protein folds, beside exact ones.

python benchmarks/infinite_svm_components.py [--seeds 5] [--sweeps 1500]

Rows of a minibatch heat the directions that they lie in, which one thermostat for a whole expert
cannot cool: experts that are too loose fit few rows well, and the sampler keeps more of them. The
number of components shows it before accuracy does.
"""

import argparse
import warnings

import numpy as np

from bayesmargin.errors import ConvergenceWarning
from infinite_svm import mixture
from infinite_svm_peers import load
from reporting import finish

CASES = {
    "gibbs (exact)": ("gibbs", {}),
    "hmc (exact)": ("hmc", {}),
    "ssgnht (default: all rows)": ("ssgnht", {"inner_steps": 10}),
    "ssgnht, 16 rows a step": ("ssgnht", {"inner_steps": 10, "batch_size": 16}),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=1500)
    options = parser.parse_args()
    X, y, _, _ = load("protein")
    rows, found = [], {}
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, (method, settings) in CASES.items():
        numbers = []
        for seed in range(options.seeds):
            model = mixture("protein", method, seed, False)
            model.set_params(n_sweeps=options.sweeps, n_draws=100, **settings).fit(X, y)
            numbers.append(float(np.mean(model.n_components_)))
        error = float(np.std(numbers, ddof=1) / np.sqrt(options.seeds))
        found[name] = (float(np.mean(numbers)), error)
        rows.append([name, *found[name]])
        print(rows[-1], flush=True)
    bounds = []
    exact, error = found["gibbs (exact)"]
    for name, (mean, own) in found.items():
        if name == "gibbs (exact)":
            continue
        bounds.append(
            {
                "bound": f"{name}: within two standard errors of gibbs",
                "measured": f"{mean:.2f} against {exact:.2f}",
                "met": bool(abs(mean - exact) <= 2.0 * np.hypot(own, error)),
            }
        )
    met = all(bound["met"] for bound in bounds)
    header = ["weights sampler", "components", "standard error over seeds"]
    finish("infinite_svm_components", header, rows, met, bounds)


if __name__ == "__main__":
    main()
