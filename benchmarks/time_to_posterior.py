"""Time to a fitted model with its posterior on 10^6 x 28 rows, and what compilation costs.

    python benchmarks/time_to_posterior.py

The peer is ``SGDClassifier(loss="hinge")`` with default settings, which gives one weight vector.
Compilation: the first fit of a new process with an empty cache, with a warm one, and the second fit
in the same process, each on the same small data. What the import of scikit-learn takes of it stands
beside it.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.linear_model import SGDClassifier

from bayesmargin import BayesianLinearSVC
from options import no_options
from reporting import finish

FIRST_FIT = """
import time, numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 10)); y = X[:, 0] + rng.standard_normal(2000) > 0
began = time.perf_counter()
import sklearn.base
imported = time.perf_counter()
from bayesmargin import BayesianLinearSVC
BayesianLinearSVC(random_state=0).fit(X, y)
middle = time.perf_counter()
BayesianLinearSVC(random_state=0).fit(X, y)
print(middle - began, time.perf_counter() - middle, imported - began)
"""


def million_rows() -> list[object]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 28), dtype=np.float32)
    y = X @ rng.standard_normal(28) + 3 * rng.standard_normal(1_000_000) > 0
    small = slice(0, 3000)
    BayesianLinearSVC(random_state=0, n_draws=50).fit(X[small], y[small])  # compiles
    began = time.perf_counter()
    SGDClassifier(loss="hinge", random_state=0).fit(X, y)
    peer = time.perf_counter() - began
    began = time.perf_counter()
    model = BayesianLinearSVC(random_state=0).fit(X, y)
    ours = time.perf_counter() - began
    assert model.diagnostics_.trustworthy
    return ["10^6 x 28: fit / SGDClassifier", ours, peer, ours / peer, 10.0, ours / peer <= 10.0]


def compile_costs() -> list[list[object]]:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "BAYESMARGIN_CACHE": cache}
        times = []
        for _ in range(2):
            found = subprocess.run(
                [sys.executable, "-c", FIRST_FIT],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            times.append([float(word) for word in found.stdout.split()])
    (cold, again, _), (warm, second, imported) = times
    extra = warm - second
    return [
        ["cold cache: first fit", cold, again, cold - again, 45.0, cold <= 45.0],
        ["warm cache: first fit minus second", warm, second, extra, 3.0, extra <= 3.0],
        ["of which the import of scikit-learn", imported, extra, imported / extra, 1.0, True],
    ]


if __name__ == "__main__":
    no_options(__doc__)
    table = [million_rows(), *compile_costs()]
    header = ["what", "seconds", "beside", "figure", "allowed", "met"]
    finish("time_to_posterior", header, table, all(row[-1] for row in table))
