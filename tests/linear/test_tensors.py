"""Rows and labels as tensors of other libraries."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.inputs.tensors import host_array

CPU, CUDA = 1, 2


class Tensor:
    """What a tensor of PyTorch shows: it is not given away while gradients are asked for."""

    def __init__(self, values, kind=CPU, grad=False, dtype="torch.float32"):
        self.values, self.kind, self.grad, self.dtype = values, kind, grad, dtype

    def detach(self):
        return Tensor(self.values, self.kind, False, self.dtype)

    def float(self):
        return Tensor(self.values.astype(np.float32), self.kind, self.grad)

    def cpu(self):
        return Tensor(self.values, CPU, self.grad, self.dtype)

    def __array__(self, dtype=None, copy=None):
        if self.kind != CPU or self.grad or self.dtype == "torch.bfloat16":
            raise TypeError("can't convert this tensor to numpy")
        return self.values

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        if self.kind != CPU or self.grad or self.dtype == "torch.bfloat16":
            raise BufferError("can't export this tensor")
        return self.values.__dlpack__(**options)


ROWS = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)


def test_memory_of_the_host_is_shared():
    assert np.shares_memory(host_array(Tensor(ROWS)), ROWS)


@pytest.mark.parametrize(
    "tensor",
    [Tensor(ROWS, grad=True), Tensor(ROWS, CUDA), Tensor(ROWS, CUDA, dtype="torch.bfloat16")],
    ids=["with gradients", "of a GPU", "bfloat16"],
)
def test_other_tensors_come_to_the_host(tensor):
    found = host_array(tensor)
    assert found.dtype == np.float32
    assert np.array_equal(found, ROWS)


def test_lists_and_frames_pass():
    for given in ([[1.0]], ROWS, None, "words"):
        assert host_array(given) is given


def test_arrays_of_jax_are_read():
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    assert np.array_equal(host_array(jnp.asarray(ROWS)), ROWS)
    half = jnp.asarray(ROWS).astype("bfloat16")
    assert host_array(half).dtype == np.float32
    assert np.array_equal(host_array(half), np.asarray(half, np.float32))


def test_a_model_takes_tensors():
    label = (ROWS[:, 0] > 0).astype(np.int64)
    settings = {"n_draws": 50, "n_chains": 2, "sampler": "gibbs", "random_state": 0}
    one = BayesianLinearSVC(**settings).fit(ROWS, label)
    other = BayesianLinearSVC(**settings).fit(
        Tensor(ROWS, grad=True), Tensor(label, CUDA, dtype="torch.int64")
    )
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.predict(ROWS), other.predict(Tensor(ROWS, CUDA)))
