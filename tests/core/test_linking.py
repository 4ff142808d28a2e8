"""Kernels carry private copies of what they call: compiled and loaded code give the same bits."""

import gc
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from bayesmargin.foundation.compiling import from_python, inner_jit, jit

# One fit of each estimator; prints the bytes that depend on its draws.
FITS = {
    "linear": """
from bayesmargin import BayesianLinearSVC
model = BayesianLinearSVC(random_state=3, n_draws=200, n_chains=2)
model.fit(X, y)
print(model.coef_.tobytes().hex())
""",
    "infinite": """
from bayesmargin import InfiniteSVC
model = InfiniteSVC(random_state=3, n_draws=100, sampler__new_components="exact").fit(X, y)
print(model.predict_proba(X).tobytes().hex())
""",
    "dpmnl": """
from bayesmargin import DPMNLClassifier
model = DPMNLClassifier(random_state=3, n_draws=100).fit(X, y)
print(model.predict_proba(X).tobytes().hex())
""",
    "medlda": """
from bayesmargin import MedLDAClassifier
counts = np.random.default_rng(1).poisson(0.5, size=(600, 40))
model = MedLDAClassifier(n_topics=5, random_state=3).fit(counts, y)
print(model.predict_proba(counts).tobytes().hex())
""",
}
DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 6))
y = 2 * (X[:, 0] > 0) + (X[:, 1] * X[:, 2] > 0)
"""


@inner_jit
def _total(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i] * values[i]
    return total


@jit
def _totals(rows):
    found = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        found[i] = _total(rows[i])
    return found


def _compiled(kernel):
    (result,) = kernel.overloads.values()
    return result.library


def test_no_other_kernel_sees_the_copies_inside_a_kernel():
    rows = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(_totals(rows), (rows**2).sum(axis=1))
    if not _totals.stats.cache_misses:
        _totals.recompile()
    shared = {
        function.name
        for function in _compiled(_totals).get_defined_functions()
        if function.linkage.name not in ("internal", "private")
    }
    assert shared  # the kernel itself, and what Python calls
    assert all("_totals" in name for name in shared)


def test_a_kernel_that_only_kernels_call_has_no_machine_code_of_its_own():
    values = np.arange(4.0)
    assert from_python(_total)(values) == 14.0
    assert not list(_compiled(_total).get_defined_functions())


@inner_jit
def _twice(values):
    return 2.0 * _total(values)


@inner_jit
def _both(values):
    return _twice(values) + _total(values)


def test_other_compilers_may_call_what_only_kernels_call():
    """A library of Numba's own asks for the whole of it, what it calls in its turn included."""

    @numba.njit
    def by_numba(values):
        return _both(values) + 1.0

    assert by_numba(np.arange(4.0)) == 43.0


@jit
def _impossible(values):
    return values.no_such_thing


def test_garbage_is_collected_again_after_a_kernel_was_compiled():
    assert gc.isenabled()
    with pytest.raises(TypingError):
        _impossible(np.arange(4.0))
    assert gc.isenabled()
    gc.disable()
    try:
        assert from_python(_both)(np.arange(4.0)) == 42.0
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("estimator", FITS)
def test_the_process_that_compiles_draws_what_later_processes_draw(estimator, tmp_path):
    def run():
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", DATA + FITS[estimator]],
            env={**os.environ, "BAYESMARGIN_CACHE": str(tmp_path)},
            stdout=subprocess.PIPE,
            check=True,
            timeout=600,
        ).stdout

    compiling, loading = run(), run()
    assert len(compiling) > 100
    assert compiling == loading
