"""Fits that fail: they leave nothing behind that looks like a model, or say what is wrong."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesmargin import DPMNLClassifier, InfiniteSVC
from bayesmargin.errors import StepSizeWarning
from bayesmargin.models.dpmnl.chain import Chain

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

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Chain, "sweep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(100.0 + 5.0 * X, X[:, 0] > 0)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_logit_models_that_never_move_are_told():
    """Every trajectory of so long a step is refused, and the partition alone looked settled."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] > 0
    good = DPMNLClassifier(n_sweeps=30, n_leapfrog=5, random_state=0).fit(X, y)
    assert good.diagnostics_["accepted"] > 0.8
    with pytest.warns(StepSizeWarning, match=r"0% of .* step=50 is too long .* smaller"):
        bad = DPMNLClassifier(n_sweeps=30, step=50.0, n_leapfrog=5, random_state=0).fit(X, y)
    assert bad.diagnostics_["accepted"] < 0.05
    assert bad.diagnostics_.trustworthy is False
    assert "NOT" in str(bad.diagnostics_)
