"""Fits that fail: they leave nothing behind that looks like a model, or say what is wrong."""

import warnings

import numpy as np
import pytest
from scipy import special, stats
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

from bayesmargin import DPMNLClassifier, InfiniteSVC
from bayesmargin.errors import ConvergenceWarning, StepSizeWarning
from bayesmargin.models.dpmnl.assignments import log_partition
from bayesmargin.models.dpmnl.blocks import BLOCKS, Assignments
from bayesmargin.models.dpmnl.chain import start_chain
from bayesmargin.models.mixtures.convergence import warn_if_refused
from bayesmargin.running.gibbs import sweep

MODELS = [DPMNLClassifier(n_sweeps=4, random_state=0), InfiniteSVC(n_sweeps=4, random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_that_fails_leaves_no_half_of_a_model(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    with pytest.raises(ValueError, match="single class"):
        model.fit(X, np.ones(30))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, X[:, 0] > 0)
    before = model.predict(X)
    with pytest.raises(ValueError, match="single class"):
        model.fit(X, np.ones(30))
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_second_fit_that_is_cut_short_does_not_mix_with_the_first(monkeypatch):
    """Its scaling had been used with the draws of the first."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2))
    model = DPMNLClassifier(n_sweeps=4, random_state=0).fit(X, X[:, 0] > 0)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Assignments, "update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(100.0 + 5.0 * X, X[:, 0] > 0)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_logit_models_that_never_move_are_told():
    """Every trajectory of so long a step is refused, and the partition alone looked settled."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] > 0
    good = DPMNLClassifier(n_sweeps=30, sampler__weights__n_leapfrog=5, random_state=0).fit(X, y)
    assert good.diagnostics_["accepted"] > 0.8
    with pytest.warns(StepSizeWarning, match=r"0% of .* step=50 is too long .* smaller"):
        bad = DPMNLClassifier(
            n_sweeps=30, sampler__weights__step=50.0, sampler__weights__n_leapfrog=5, random_state=0
        ).fit(X, y)
    assert bad.diagnostics_["accepted"] < 0.05
    assert bad.diagnostics_.trustworthy is False
    assert "NOT" in str(bad.diagnostics_)


def test_one_refused_trajectory_is_no_reason_to_warn():
    """Of a run of one sweep over one component it was 0%; of many it says something."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_refused(accepted=0.0, trajectories=1, step=0.1)
        warn_if_refused(accepted=0.25, trajectories=1000, step=0.1)
    with pytest.warns(StepSizeWarning, match="10% of the trajectories"):
        warn_if_refused(accepted=0.1, trajectories=10, step=0.1)


def test_a_partition_that_is_still_on_its_way_is_not_called_settled():
    """The number of components alone was watched, which stands still while rows go on moving."""
    X, y = load_breast_cancer(return_X_y=True)
    short = DPMNLClassifier(
        n_sweeps=40, sampler__burn_in=0, sampler__weights__n_leapfrog=5, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match=r"R-hat .* increase n_sweeps"):
        found = short.fit(X, y).diagnostics_
    assert found["partition"]["r_hat"] > 1.5
    assert found.trustworthy is False
    assert "partition has NOT settled" in str(found)


def test_log_probability_of_the_partition():
    """What is watched, written out with SciPy."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 2)), rng.integers(0, 3, 30)
    chain = start_chain(rng, X, y, np.arange(30) % 3, 3, 0.2, 5, 5)
    sweep(BLOCKS, chain)
    expected = -special.gammaln(np.exp(chain.hyper.log_concentration[0]) + 30)
    expected += special.gammaln(np.exp(chain.hyper.log_concentration[0]))
    for slot in np.unique(chain.slots):
        rows, experts = chain.slots == slot, chain.experts
        expected += chain.hyper.log_concentration[0] + special.gammaln(rows.sum())
        spread = np.exp(0.5 * experts.log_variance[slot])
        expected += stats.norm.logpdf(X[rows], experts.mean[slot], spread).sum()
        slopes = experts.coefficients[slot]
        chances = special.log_softmax(X[rows] @ slopes[:, :2].T + slopes[:, 2], axis=1)
        expected += chances[np.arange(rows.sum()), y[rows]].sum()
    found = log_partition(X, y, chain.slots, chain.experts, chain.hyper)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
