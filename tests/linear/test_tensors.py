"""Rows and labels as tensors of other libraries."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.inputs.tensors import host_array
from bayesmargin.inputs.values import plain_values
from bayesmargin.models.settings import check_sample_weight

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


def test_values_and_weights_come_as_tensors_as_well():
    half = Tensor(ROWS[:, 0], CUDA, grad=True, dtype="torch.bfloat16")
    assert np.array_equal(plain_values(half), ROWS[:, 0])
    weight = Tensor(np.abs(ROWS[:, 1]), grad=True, dtype="torch.bfloat16")
    assert np.array_equal(check_sample_weight(weight, len(ROWS)), np.abs(ROWS[:, 1]))


def test_tensors_of_torch_are_read():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    rows = torch.from_numpy(ROWS)
    for shared in (rows, rows.T, rows[::2], rows.clone().requires_grad_(), rows.double(), rows > 0):
        assert host_array(shared).ctypes.data == shared.data_ptr()
        assert np.array_equal(host_array(shared), shared.detach().numpy())
    half = rows.bfloat16().requires_grad_()
    assert np.array_equal(host_array(half), half.detach().float().numpy())
    with torch.inference_mode():
        assert np.array_equal(host_array(torch.from_numpy(ROWS) + 0), ROWS)


def test_a_model_takes_rows_of_torch_in_bfloat16():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    rows = torch.from_numpy(ROWS).bfloat16()
    label = torch.from_numpy(ROWS[:, 0] > 0).long()
    settings = {"n_draws": 50, "n_chains": 2, "sampler": "gibbs", "random_state": 0}
    one = BayesianLinearSVC(**settings).fit(rows.float().numpy(), label.numpy())
    weight = torch.ones(len(rows), dtype=torch.bfloat16)
    other = BayesianLinearSVC(**settings).fit(rows.requires_grad_(), label, sample_weight=weight)
    assert np.array_equal(one.posterior_["coef"], other.posterior_["coef"])
    found = torch.from_dlpack(other.predict_proba(rows))
    assert np.array_equal(found.numpy(), one.predict_proba(rows.detach().float().numpy()))
