"""Rows that stay with the host, in memory or in a file: the same posterior."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin import BayesianLinearSVC
from bayesmargin.engines import loading, memory
from bayesmargin.engines.loading import load, reader_of
from bayesmargin.engines.streaming import order_in_runs
from bayesmargin.engines.target import batch_change, full_gradient, weights_at
from bayesmargin.engines.whitening import whiten
from bayesmargin.samplers import SSGNHT
from bayesmargin.validation import agreement
from tests.conftest import make_problem


def rows_and_labels(n_rows=500):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, n_rows)
    return rng.standard_normal((n_rows, 4)) + 0.5 * (label[:, None] == np.arange(4)), label


def test_runs_stay_together_and_every_row_comes_once():
    order = order_in_runs(1000, np.random.default_rng(0))
    assert np.array_equal(np.sort(order), np.arange(1000))
    assert np.mean(np.diff(order) == 1) > 0.9
    assert not np.array_equal(order, np.arange(1000))


def test_gradients_are_those_of_rows_on_the_device(monkeypatch):
    monkeypatch.setattr(loading, "STREAMED", 5 * 64)
    X, label = rows_and_labels()
    problem = make_problem(X, label, n_classes=3, intercept=True)
    rng = np.random.default_rng(1)
    reader = reader_of(problem, 2, "float32", rng)
    streamed = load(problem, 2, "float32", rng, reader)
    there = replace(streamed, rows=jax.numpy.asarray(reader.at(np.arange(reader.shape[0]))))
    one, other = (whiten(each, np.random.default_rng(2)) for each in (streamed, there))
    assert one.layout.n_tiles == 8
    place = np.random.default_rng(4).standard_normal((2, 3, 5)).astype(np.float32)
    found, truth = (full_gradient(each.target, each.layout, place) for each in (one, other))
    assert np.asarray(found) == pytest.approx(np.asarray(truth), rel=1e-4, abs=1e-4)
    layout = replace(one.layout, batch=128)
    found, truth = (
        jax.vmap(lambda w, first, t=each.target: batch_change(t, layout, w, first))(
            weights_at(each.target, place), np.array([0, 256])
        )
        for each in (one, other)
    )
    assert np.abs(np.asarray(truth)).max() > 0.0
    assert np.asarray(found) == pytest.approx(np.asarray(truth), rel=1e-4, abs=1e-4)


class SmallDevice:
    platform, device_kind = "cpu", "small"

    def memory_stats(self):
        return {"bytes_limit": 1.2e6}


def test_a_file_larger_than_the_device_is_streamed(tmp_path, monkeypatch):
    X, label = rows_and_labels(30_000)
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    settings = {"engine": "jax", "n_chains": 2, "random_state": 0, "prior_scale": 0.5,
                "n_draws": 120, "sampler": SSGNHT(thin=6, burn_in=200)}  # fmt: skip
    fits = []
    for small in (False, True):
        if small:
            monkeypatch.setattr(memory.jax, "devices", lambda: [SmallDevice()])
            monkeypatch.setattr(loading, "STREAMED", 5 * 1024)
            monkeypatch.setitem(loading.SCORES, "cpu", 1 << 13)
        model = BayesianLinearSVC(**settings)
        fits.append(model.fit(rows, label))
        assert model.posterior_.attrs["rows_streamed"] is small
    draws = [fit.posterior_["coef"].astype(float) for fit in fits]
    draws = [(part - part.mean(axis=2, keepdims=True)).reshape(2, 120, -1) for part in draws]
    assert agreement(*draws).agrees(4.5)


def test_compiled_programs_do_not_keep_rows():
    X, label = rows_and_labels()
    problem = make_problem(X, label, n_classes=3, intercept=True)
    reader = reader_of(problem, 2, "float32", np.random.default_rng(1))
    whiten(load(problem, 2, "float32", np.random.default_rng(1), reader), np.random.default_rng(1))
    kept = weakref.ref(problem.source)
    del problem
    gc.collect()
    assert kept() is None
