"""Models fitted and saved by the other of the two environments that the Makefile makes.

``python -m tests.compat.other_environment FOLDER`` fits every small model of the tests of saving,
saves it in the folder, and keeps beside it what it says about its rows.
"""

import pickle
import sys
from pathlib import Path

import numpy as np

from bayesmargin import BayesianLinearSVC
from tests.saving import fitted

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = (".venv", ".venv-new")
LAW = {"n_chains": 4, "n_draws": 2000}  # of the fits whose draws are compared


def other_python():
    """Interpreter of the environment that this process does not run in; None without one."""
    for name in ENVIRONMENTS:
        home = ROOT / name
        python = home / "bin" / "python"
        if python.exists() and home.resolve() != Path(sys.prefix).resolve():
            return python
    return None


def rows_for(name):
    """Rows that a model of ``fitted.MODELS`` has learned from."""
    count = 3 if "three" in name or "one-vs-rest" in name else 2
    return fitted.counts(count)[0] if name.startswith("medlda") else fitted.rows(count)[0]


def law(seed):
    """Draws of the linear model on overlapping classes."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 3))
    y = X[:, 0] + rng.logistic(0.0, 0.5, 400) > 0
    return BayesianLinearSVC(**LAW, random_state=seed).fit(X, y).posterior_


def main(folder):
    """Write the models, their answers and the draws."""
    for k, name in enumerate(fitted.MODELS):
        model = fitted.model(name)
        model.save(folder / str(k))
        answers = fitted.answers(model, rows_for(name))
        (folder / f"{k}.pickle").write_bytes(pickle.dumps(answers))
    np.save(folder / "draws.npy", law(2)["coef"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
