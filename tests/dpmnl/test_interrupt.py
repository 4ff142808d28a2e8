"""Ctrl-C: as with the infinite SVM, the sweep under way is the last and its draws are kept."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin import DPMNLClassifier
from bayesmargin.errors import InterruptedWarning
from bayesmargin.running.progress import watching

from ..infinite_svc.test_interrupt import Impatient, ctrl_c  # noqa: F401

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")

X, y = make_moons(100, noise=0.2, random_state=0)
SETTINGS = {"n_sweeps": 4000, "sampler__weights__n_leapfrog": 5, "random_state": 0}


def test_ctrl_c_in_burn_in_ends_the_fit_at_once():
    display, model = Impatient(10), DPMNLClassifier(**SETTINGS)
    with watching(display), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert display.done < 1000
    assert not hasattr(model, "n_components_")


def test_ctrl_c_after_burn_in_keeps_the_draws():
    """Hours of sweeps were lost to it."""
    display = Impatient(100)
    model = DPMNLClassifier(**SETTINGS, sampler__burn_in=20, n_draws=200)
    with watching(display), pytest.warns(InterruptedWarning, match=r"of 4000 sweeps.*fit again"):
        model.fit(X, y)
    kept = len(model.n_components_)
    assert 80 <= kept == display.done - 20 < 2000
    assert 4 <= len(model._draws) < 200
    assert model.score(X, y) > 0.9
    assert model.diagnostics_["interrupted"] is True
    assert model.diagnostics_.trustworthy is False
    assert "interrupted" in str(model.diagnostics_)
    whole = DPMNLClassifier(**{**SETTINGS, "n_sweeps": 20 + kept}, sampler__burn_in=20, n_draws=200)
    np.testing.assert_array_equal(model.n_components_, whole.fit(X, y).n_components_)


def test_ctrl_c_in_the_first_sweep_after_burn_in_leaves_a_model():
    model = DPMNLClassifier(**SETTINGS, sampler__burn_in=20, n_draws=3)
    with watching(Impatient(21)), pytest.warns(InterruptedWarning, match=r"after [2-9]\d of 4000"):
        model.fit(X, y)
    assert len(model._draws) == 1
    assert np.isfinite(model.predict_proba(X)).all()
