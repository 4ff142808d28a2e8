"""The array engine and the compiled one sample one posterior: means and variances of all weights.

    python benchmarks/engines_law.py [set ...] [--draws 2000] [--seconds 420]

On IJCNN1, HIGGS, wine, pendigits and drawn rows of 100 classes, the compiled engine and the array
engine (the thermostat, with rows in single precision and in bfloat16) against exact Hamiltonian
Monte Carlo of the array engine. Means may differ by 0.05 posterior standard deviations (root mean
square) beyond the Monte Carlo error of both, variances by 3% on average, with a Monte Carlo error
that is told (weights taken for independent); rows in bfloat16 may cost no more. Of several classes
the contrasts are compared: what all classes share has a known law. JAX takes a GPU where it finds
one.
The drawn rows (``clusters``) alone are kept in a file of their own; ``few clusters`` are a quick
look at the program. Fits that would begin after ``--seconds`` are left out, and told; what was
measured before Ctrl-C is kept.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.datasets import DataNotFoundError, fetch_higgs, fetch_ijcnn1, fetch_pendigits
from bayesmargin.engines.samplers import ArraySampler
from bayesmargin.errors import BayesmarginWarning
from bayesmargin.samplers import SSGNHT, Auto, SubgradientHMC
from laws import MEANS, VARIANCES, apart, contrasts
from options import add_sets, command_line
from reporting import finish, print_table

HEADER = (
    "set", "rows", "features", "classes", "engine", "sampler", "means", "chance", "variances",
    "doubt", "ess", "rhat", "seconds", "met",
)  # fmt: skip
EXACT = "jax, exact"
KINDS = {
    EXACT: ArraySampler(SubgradientHMC()),
    "numba": Auto(),
    "jax, thermostat": ArraySampler(SSGNHT()),
    "jax, thermostat, bfloat16": ArraySampler(SSGNHT(), "bfloat16"),
}


def dense(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows as an array."""
    return (X.toarray() if hasattr(X, "toarray") else np.asarray(X)).astype(np.float32), y


def drawn(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, n_rows)
    centres = 0.4 * rng.standard_normal((n_classes, n_features))
    return (centres[label] + rng.standard_normal((n_rows, n_features))).astype(np.float32), label


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "higgs": lambda: fetch_higgs(return_X_y=True),
    "ijcnn1": lambda: fetch_ijcnn1(return_X_y=True),
    "pendigits": lambda: fetch_pendigits(return_X_y=True),
    "clusters": lambda: drawn(20_000, 64, 100),
    "few clusters": lambda: drawn(500, 8, 6),
}
TINY = ["few clusters"]
BEGAN = time.perf_counter()


def fitted(X: Any, y: Any, **settings: Any) -> tuple[BayesianLinearSVC, float]:
    """A model, what it warned of told, and the seconds that it took."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        model = BayesianLinearSVC(random_state=1, **settings).fit(X, y)
    return model, time.perf_counter() - began


def measure(name: str, n_draws: int, until: float) -> Iterator[tuple[Any, ...]]:
    """Rows of the table for one set, as they come."""
    X, y = dense(*SETS[name]())
    X = StandardScaler().fit_transform(X)
    classes = len(np.unique(y))
    scale = "auto" if classes > 10 else 1.0
    truth = None
    for kind, sampler in KINDS.items():
        if time.perf_counter() - BEGAN > until:
            print(f"{name}, {kind}: left out, it is late", flush=True)
            continue
        settings = {"engine": kind.split(",")[0], "sampler": sampler, "prior_scale": scale}
        model, seconds = fitted(X, y, n_draws=n_draws, **settings)
        draws, found = contrasts(model), model.diagnostics_
        truth = draws if truth is None else truth
        law = apart(truth, draws)
        sampler = model.posterior_.attrs["drawn_by"]
        row = (
            name, *X.shape, classes, kind, sampler, law.means, law.chance, law.variances, law.doubt,
            float(found.min_bulk_ess), float(found.max_rhat), seconds, bool(law.met),
        )  # fmt: skip
        print(dict(zip(HEADER, row, strict=True)), flush=True)
        yield row


def main() -> None:
    """Measure the sets asked for."""
    asking = command_line(__doc__)
    add_sets(asking, SETS)
    asking.add_argument("--draws", type=int, default=2000)
    asking.add_argument("--seconds", type=float, default=420.0)
    given = asking.parse_args()
    print(jax.__version__, jax.devices(), flush=True)
    asked = [name for name in SETS if name in given.sets]
    if asked != TINY:
        asked = [name for name in asked if name not in TINY]
    rows: list[tuple[Any, ...]] = []
    for name in asked:
        try:
            for row in measure(name, given.draws, given.seconds):
                rows.append(row)
        except DataNotFoundError as error:
            print(f"{name}: {error}", flush=True)
        except KeyboardInterrupt:
            print(f"{name}: stopped here", flush=True)
            break
    bounds = [
        {
            "bound": f"{row[0]}, {row[4]}: means within {MEANS} sd, variances within {VARIANCES}",
            "measured": f"{row[6]:.3f} (chance {row[7]:.3f} taken off), {row[8]:+.3f} "
            f"with an error of {row[9]:.3f}",
            "met": row[-1],
        }
        for row in rows
        if row[4] != EXACT
    ]
    complete = len(rows) == len(KINDS) * len(asked)
    met = complete and all(bound["met"] for bound in bounds)
    if asked == TINY:
        print_table(HEADER, rows)
        print("a tiny set: nothing is kept")
        return
    alone = "_clusters" if asked == ["clusters"] else ""
    finish(f"engines_law{alone}", HEADER, rows, met, bounds)


if __name__ == "__main__":
    main()
