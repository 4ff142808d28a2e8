"""A step of the default sampler with several classes, against BLAS doing its products alone.

    python benchmarks/multiclass_speed.py

A step of SSGNHT on dense rows maps the position to weights (a triangular matrix for all classes but
the first, a full one for that), multiplies a batch of rows with the weights of all classes, and
maps the gradient back. The limit is what the same three products take in BLAS in the same
precision, one thread, without random numbers, hinges or anything else. Met if a step takes at most
twice that; processor time, the best of seven rounds on both sides.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGNHT
from bayesmargin.targets.problem import Problem
from options import no_options
from reporting import finish

ALLOWED = 2.0


def clusters(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters, one a class."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_rows)
    return rng.normal(size=(n_classes, n_features))[y] + 2 * rng.normal(
        size=(n_rows, n_features)
    ), y


def best(run: Callable[[], Any], times: int) -> float:
    """Microseconds of one of ``times`` repetitions, in the best of seven rounds."""
    rounds = []
    for _ in range(7):
        began = time.process_time()
        run()
        rounds.append((time.process_time() - began) / times)
    return 1e6 * min(rounds)


def measure(X: np.ndarray, y: np.ndarray) -> list[Any]:
    """Shape, rows a step, and the microseconds of a step and of its products in BLAS."""
    X = StandardScaler().fit_transform(X)
    n_classes = int(y.max()) + 1
    source = DenseSource(X, intercept=True)
    n_weights = n_classes * source.n_columns
    prior = GaussianBelief(np.zeros(n_weights), np.ones(n_weights))
    problem = Problem(source, y, n_classes, np.ones(len(y)), 1.0, prior)
    ensemble = SSGNHT().start(problem, spawn_generators(0, 2))
    chain, target = ensemble.chains[0], ensemble.account.target
    chain.run(1, 50)
    ours = best(lambda: chain.run(1, 200), 200)
    used = int(target.strata.take.sum())
    rows = target.rows.values[:used]
    table = np.ones((source.n_columns, n_classes), rows.dtype)
    basis = np.asfortranarray(target.coordinates.basis[0])
    first, triangle = basis[: source.n_columns], np.asfortranarray(basis[source.n_columns :])
    vector = np.ones(len(triangle), basis.dtype)
    gradient = np.ones(source.n_columns, basis.dtype)
    (trmv,) = get_blas_funcs(("trmv",), (triangle,))

    def products() -> None:
        for _ in range(200):
            first @ vector
            trmv(triangle, vector)
            rows @ table
            gradient @ first
            trmv(triangle, vector, trans=1)

    with threadpool_limits(1):  # a second thread only spins, which processor time would count
        limit = best(products, 200)
    return [len(y), source.n_columns, n_classes, used, ours, limit, ours / limit]


def main() -> None:
    table = []
    for name, data in (
        ("wine", load_wine(return_X_y=True)),
        ("digits", load_digits(return_X_y=True)),
        ("clusters", clusters(20_000, 20, 5)),
    ):
        table.append([name, *measure(*data)])
    header = ["data", "rows", "columns", "classes", "rows a step", "us a step", "us in BLAS"]
    finish("multiclass_speed", [*header, "ratio"], table, all(row[-1] <= ALLOWED for row in table))


if __name__ == "__main__":
    no_options(__doc__)
    main()
