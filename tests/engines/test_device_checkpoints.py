"""A fit on a device that was stopped goes on bit by bit, though its states do not lie in memory."""

import warnings

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin import BayesianLinearSVC
from bayesmargin.engines import crew
from bayesmargin.errors import BayesmarginWarning
from bayesmargin.running import checkpoint as checkpoints
from bayesmargin.running.checkpoint import NEWEST, Checkpoint
from bayesmargin.samplers import SSGNHT, SubgradientHMC

X = np.random.default_rng(0).standard_normal((60, 3))
SAMPLERS = {
    "thermostat": SSGNHT(step=0.1, burn_in=20, thin=1),
    "hmc": SubgradientHMC(burn_in=10, thin=1),
}


class Killed(BaseException):
    """Stands for a crash."""


def killed_after(monkeypatch, n_writes):
    """Crash right after so many checkpoints."""
    write, count = Checkpoint.write, [0]

    def counted(self, *args):
        write(self, *args)
        count[0] += 1
        if count[0] == n_writes:
            raise Killed

    monkeypatch.setattr(Checkpoint, "write", counted)


@pytest.mark.parametrize(("sampler", "share"), [("thermostat", 3), ("hmc", 1)])
def test_crashed_fits_go_on_bit_by_bit(sampler, share, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "LARGEST_SHARE", 1e9)
    monkeypatch.setattr(crew, "MOST_DRAWS", 7)
    monkeypatch.setattr(crew, "MEMORY_LIMIT", 4 * 2 * 40 * 12 // share)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    settings = {"n_chains": 2, "n_draws": 40, "sampler": SAMPLERS[sampler], "random_state": 5}
    model = BayesianLinearSVC(engine="jax", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        model.fit(X, y)
        expected = {**model.posterior_, "mean": model.coef_}
        assert model.posterior_["coef"].shape[1] == -(-40 // share)
        path = tmp_path / "checkpoint"
        model.set_params(checkpoint=path, checkpoint__every=1e-9)
        for n_writes in (2, 3):  # in the warm-up, and between rounds of draws
            with monkeypatch.context() as patch:
                killed_after(patch, n_writes)
                with pytest.raises(Killed):
                    model.fit(X, y)
            assert (path / NEWEST).is_file()
        model.fit(X, y)
    for name, draws in expected.items():
        found = model.coef_ if name == "mean" else model.posterior_[name]
        np.testing.assert_array_equal(found, draws)
