"""What a fit takes on a device is known before it starts, and told where there is less."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin import BayesianLinearSVC
from bayesmargin.engines import memory
from bayesmargin.engines.memory import needed
from tests.conftest import make_problem


class SmallDevice:
    def memory_stats(self):
        return {"bytes_limit": 1e6}

    platform = "cpu"


def problem_of(n_rows, n_columns, n_classes=3):
    X = np.ones((n_rows, n_columns), np.float32)
    return make_problem(X, np.arange(n_rows) % n_classes, n_classes=n_classes)


def test_rows_are_counted_twice_and_half_as_much_in_bfloat16():
    single, half = (needed(problem_of(60_000, 50), 4, dtype) for dtype in ("float32", "bfloat16"))
    assert 2 * 60_000 * 50 * 4 < single < 2.5e8
    assert single - half == pytest.approx(2 * 60_000 * 50 * 2, rel=0.01)


def test_a_device_that_is_too_small_is_told_before_anything_is_loaded(monkeypatch):
    monkeypatch.setattr(memory.jax, "devices", lambda: [SmallDevice()])
    X, y = np.random.default_rng(0).standard_normal((400, 30)), np.arange(400) % 3
    with pytest.raises(ValueError, match=r"about .* GB on a device .*n_chains=4"):
        BayesianLinearSVC(engine="jax", random_state=0).fit(X, y)
