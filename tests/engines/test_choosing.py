"""Which engine is taken, and what is said where the array engine cannot do it."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.engines import choosing
from bayesmargin.samplers import SSGLD, Auto

X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine='cuda' is not allowed"):
        BayesianLinearSVC(engine="cuda").fit(X, y)


def test_without_jax_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(choosing, "has_jax", lambda: False)
    with pytest.raises(ValueError, match=r"install bayesmargin\[jax\]"):
        BayesianLinearSVC(engine="jax").fit(X, y)
    sampler = choosing.sampler_for("auto", Auto(), np.empty((10**6, 2000)), 1, "gaussian")
    assert sampler == Auto()


def test_auto_takes_jax_for_large_data_on_a_gpu_alone(monkeypatch):
    pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")
    large = np.broadcast_to(np.float32(0.0), (10**6, 2000))
    for gpu, values, prior, wanted in (
        (True, large, "gaussian", "ArraySampler"),
        (False, large, "gaussian", "Auto"),
        (True, X, "gaussian", "Auto"),
        (True, large, "laplace", "ArraySampler"),
        (True, large, "horseshoe", "Auto"),
    ):
        monkeypatch.setattr(choosing, "_has_gpu", lambda gpu=gpu: gpu)
        assert type(choosing.sampler_for("auto", Auto(), values, 1, prior)).__name__ == wanted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampler": SSGLD(schedule="polynomial")}, "constant steps alone"),
        (
            {"sampler": SSGLD(preconditioner="adagrad", step=0.1)},
            "coordinates of the posterior",
        ),
        ({"sampler": "gibbs"}, "no AugmentationGibbs"),
    ],
)
def test_what_the_array_engine_does_not_know_is_told(settings, message):
    pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")
    with pytest.raises(ValueError, match=message):
        BayesianLinearSVC(engine="jax", **settings).fit(X, y)


def test_sparse_rows_are_refused_in_words():
    pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")
    with pytest.raises(ValueError, match="dense rows in memory alone"):
        BayesianLinearSVC(engine="jax").fit(sparse.csr_matrix(X), y)
