"""A process that was forked after a fit can fit, too."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import signal
import warnings

import numpy as np

from bayesmargin import InfiniteSVC

warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((600, 3))
model = InfiniteSVC(n_sweeps=4, random_state=0)
before = model.fit(X, X[:, 0] > 0).predict_proba(X)
child = os.fork()
if child == 0:
    signal.alarm(60)
    same = np.array_equal(model.fit(X, X[:, 0] > 0).predict_proba(X), before)
    os._exit(0 if same else 1)
print("child ended with", os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_fits():
    """The threads of k-means are not there after a fork, and the child waited for them forever."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env=environment, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "child ended with 0" in done.stdout, done.stderr
