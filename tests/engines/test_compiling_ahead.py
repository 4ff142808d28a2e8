"""Programs that are compiled while rows travel are found again by those who need them."""

import logging

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin.engines import noise, whitening
from bayesmargin.engines.ahead import compiled_ahead
from bayesmargin.engines.loading import described, layout_for, load
from bayesmargin.engines.programs import OPTIONS, program
from bayesmargin.engines.target import Layout
from tests.conftest import make_problem

AHEAD = ("stride", "_placed", "with_reference", "stiffness", "second_moment")


def test_what_is_compiled_ahead_is_found_again(caplog):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 130)
    X = rng.standard_normal((130, 7)) + (label[:, None] == np.arange(7))
    problem = make_problem(X, label, n_classes=3, intercept=True)
    shapes = whitening.shapes_of(described(problem, 2, "float32"))
    assert noise.programs(shapes) == []  # few rows: no batches
    with caplog.at_level(logging.WARNING), jax.log_compiles():
        with compiled_ahead(whitening.programs(shapes)):
            loaded = load(problem, 2, "float32", rng)
        assert jax.tree.map(np.shape, (loaded.rows, loaded.family, loaded.cost)) == jax.tree.map(
            np.shape, (shapes.loaded.rows, shapes.loaded.family, shapes.loaded.cost)
        )
        whitening.whiten(loaded, rng)
    # Threads of their own compile ahead; what is told here is what the main thread compiled.
    told = [one.getMessage() for one in caplog.records if "XLA compilation" in one.getMessage()]
    assert any("(_put)" in line for line in told)
    assert [line for line in told if any(f"({name})" in line for name in AHEAD)] == []


def test_a_layout_says_where_products_come_from(monkeypatch):
    told = []

    def jit(function, compiler_options=None):
        return lambda *arguments, **named: told.append(compiler_options)

    monkeypatch.setattr(jax, "jit", jit)
    run = program(lambda x, layout=None: x)
    run(1.0, Layout(64, 1))
    run(1.0, layout=Layout(64, 1, vendor=False))
    run(1.0)
    assert told == [OPTIONS, None, OPTIONS]


@pytest.mark.parametrize(("n_rows", "vendor"), [(1000, True), (2_000_000, False)])
def test_narrow_rows_in_great_numbers_leave_the_library(n_rows, vendor):
    X = np.broadcast_to(np.float64(0.0), (n_rows, 2))
    problem = make_problem(X, np.broadcast_to(np.int64(0), n_rows))
    assert layout_for(problem, 4).vendor is vendor


def test_an_error_of_a_program_is_told():
    def broken():
        raise ValueError("no such shape")

    with pytest.raises(ValueError, match="no such shape"), compiled_ahead([broken]):
        pass
