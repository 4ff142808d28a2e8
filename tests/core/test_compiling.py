"""The compile cache notices changes in every source that a kernel depends on."""

import os
import subprocess
import sys
import time
from typing import NamedTuple

import numba
import numpy as np
import pytest

from bayesmargin.foundation import compiling
from bayesmargin.foundation.streams import next_bits, uniform


def test_hash_depends_on_imported_modules(monkeypatch):
    files = {}
    before = compiling.source_hash("bayesmargin.foundation.random")
    compiling.source_hash.cache_clear()
    original = compiling.Path.read_bytes

    def changed(self):
        files[self.name] = True
        extra = b"# another line" if self.name == "compiling.py" else b""
        return original(self) + extra

    monkeypatch.setattr(compiling.Path, "read_bytes", changed)
    after = compiling.source_hash("bayesmargin.foundation.random")
    compiling.source_hash.cache_clear()
    assert {"random.py", "compiling.py"} <= set(files)
    assert after != before


def test_drivers_depend_on_the_bodies_they_call_without_importing_them(monkeypatch):
    before = compiling.source_hash("bayesmargin.running.chains")
    compiling.source_hash.cache_clear()
    original = compiling.Path.read_bytes

    def changed(self):
        return original(self) + (b"# another line" if self.name == "thermostat.py" else b"")

    monkeypatch.setattr(compiling.Path, "read_bytes", changed)
    after = compiling.source_hash("bayesmargin.running.chains")
    compiling.source_hash.cache_clear()
    assert "bayesmargin.dynamics.thermostat" not in compiling._imports("bayesmargin.running.chains")
    assert after != before


def test_kernels_of_others_depend_on_every_source(monkeypatch):
    before = compiling.package_hash()
    compiling.package_hash.cache_clear()
    original = compiling.Path.read_bytes

    def changed(self):
        return original(self) + (b"# another line" if self.name == "newcomer.py" else b"")

    monkeypatch.setattr(compiling.Path, "read_bytes", changed)
    after = compiling.package_hash()
    compiling.package_hash.cache_clear()
    assert after != before


@compiling.inner_borrowing_jit
def _total(values):
    total = 0.0
    for value in values:
        total += value
    return total


@compiling.inner_jit
def _doubled_total(values):
    twice = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        twice[i] = 2.0 * values[i]
    return _total(twice)


@compiling.borrowing_jit
def _outer(values):
    return _doubled_total(values)


def test_a_borrowing_kernel_may_call_one_that_allocates():
    """Whether reference counts are kept is said by each kernel, never taken from its caller."""
    assert _outer(np.arange(4.0)) == 12.0
    assert compiling.from_python(_total)(np.arange(4.0)) == 6.0


def test_imports_are_followed_through():
    assert "bayesmargin.likelihoods.base" in compiling._imports("bayesmargin.targets.rows")
    assert "bayesmargin.dynamics.base" in compiling._imports("bayesmargin.dynamics.langevin")


def test_import_of_the_package_is_quick_and_light():
    code = (
        "import sys, bayesmargin; "
        "print([m for m in ('numba', 'sklearn', 'arviz', 'matplotlib') if m in sys.modules])"
    )
    began = time.perf_counter()
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert time.perf_counter() - began < 2.0
    assert found.stdout.strip() == "[]"


class _Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


class _Other(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@compiling.jit
def _dot_of(pair, factor):
    return factor * np.sum(pair.first * pair.second)


def test_a_direct_caller_looks_at_types_once_for_each_class_of_the_first_argument(monkeypatch):
    looked, call = [], compiling.DirectCaller()
    typeof = numba.typeof
    monkeypatch.setattr(numba, "typeof", lambda value: looked.append(value) or typeof(value))
    for kind in (_Pair, _Other):
        for n in range(1, 5):
            pair = kind(np.arange(float(n)), np.full(n, 2.0))
            assert call(_dot_of, pair, 0.5) == pytest.approx(n * (n - 1) / 2)
    assert len(looked) == 4


def test_a_direct_caller_tells_kernels_apart():
    call, stream = compiling.DirectCaller(), np.zeros(1, np.uint64)
    bits = call(next_bits, stream)
    assert 0.0 <= call(_uniform_of, stream) < 1.0
    assert bits == next_bits(np.zeros(1, np.uint64))


@compiling.jit
def _uniform_of(stream):
    return uniform(stream)


FIRST_FIT = """
import sys
from numba.core import event

class Strings(event.Listener):
    found = set()

    def on_start(self, event):
        module = event.data["dispatcher"].py_func.__module__
        if "unicode" in module or "mergesort" in module:
            self.found.add(module)

    def on_end(self, event):
        pass

event.register("numba:compile", Strings())
import numpy as np
from bayesmargin import BayesianLinearSVC, DPMNLClassifier
X = np.random.default_rng(0).normal(size=(200, 3))
y = (X[:, 0] > 0).astype(int)
{fit}
print(sorted(Strings.found))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "fit",
    [
        "BayesianLinearSVC(sampler='hmc', n_draws=200, random_state=0).fit(X, y)",
        "BayesianLinearSVC(sampler='srwm', n_draws=10, random_state=0).fit(X, y)",
        "BayesianLinearSVC(sampler='gibbs', n_draws=200, random_state=0).fit(X, y)",
        "DPMNLClassifier(20, random_state=0).fit(X, y)",
    ],
)
def test_no_kernel_compiles_strings(fit, tmp_path):
    """An array assigned to a slice of another brings them, for a report of unequal shapes."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST_FIT.replace("{fit}", fit)],
        env={**os.environ, "BAYESMARGIN_CACHE": str(tmp_path)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    ).stdout
    assert found.decode().strip() == "[]"
