"""What a fit says about itself: the warning of an unsettled partition, and progress."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.dpmnl import DPMNLClassifier
from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.mixtures.convergence import trace_report, warn_if_unsettled


def test_a_drifting_trace_is_told_and_a_settled_one_is_not():
    rng = np.random.default_rng(0)
    settled = trace_report({"components": rng.normal(size=(2, 60))})
    warn_if_unsettled(settled, 60)
    drifting = trace_report({"components": np.linspace(0, 9, 60) + rng.normal(size=(2, 60))})
    with pytest.warns(ConvergenceWarning, match="n_sweeps"):
        warn_if_unsettled(drifting, 60)
    warn_if_unsettled(drifting, 10)  # too short to judge


@pytest.mark.parametrize("model", [InfiniteSVC, DPMNLClassifier])
def test_verbose_prints_sweeps(model, capsys):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model(n_sweeps=8, n_draws=2, random_state=0, verbose=1).fit(X, y)
    assert "components" in capsys.readouterr().err
    model(n_sweeps=8, n_draws=2, random_state=0).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize("model", [InfiniteSVC, DPMNLClassifier])
def test_the_display_shows_rhat_once_there_are_sweeps_enough(model, capsys):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model(n_sweeps=40, n_draws=2, random_state=0, verbose=1).fit(X, y)
    first, *_, last = capsys.readouterr().err.strip().splitlines()
    assert "R-hat" not in first
    assert "R-hat" in last
