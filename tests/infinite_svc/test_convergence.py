"""What a fit says about itself: the warning of an unsettled partition, and progress."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.dpmnl import DPMNLClassifier
from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.infinite_svc.settings import default_sweeps
from bayesmargin.models.mixtures.convergence import trace_report, warn_if_unsettled


def test_a_drifting_trace_is_told_and_a_settled_one_is_not():
    rng = np.random.default_rng(0)
    settled = trace_report({"components": rng.normal(size=(2, 60))})
    warn_if_unsettled(settled, 60)
    drifting = trace_report({"components": np.linspace(0, 9, 60) + rng.normal(size=(2, 60))})
    with pytest.warns(ConvergenceWarning, match="n_sweeps"):
        warn_if_unsettled(drifting, 60)
    warn_if_unsettled(drifting, 10)  # too short to judge


def test_fits_of_few_rows_settle_by_default():
    # With 100 sweeps a third of such fits end with the warning, which is an error here; with 1000
    # sweeps one in ten, of the exact sampler as well, has an R-hat above 1.2.
    X, y = make_moons(400, noise=0.2, random_state=0)
    for seed in range(6):
        model = InfiniteSVC(random_state=seed).fit(X, y)
        assert model.n_components_.shape == (1, 1000)
        assert model.diagnostics_["partition"]["r_hat"] < 1.2


def test_default_sweeps_fall_with_rows_and_features():
    assert default_sweeps(10, 3) == default_sweeps(500, 10) == 2000
    assert default_sweeps(1000, 10) == 1000
    assert default_sweeps(2500, 10) == 400
    assert default_sweeps(625, 20) == 400
    assert default_sweeps(10**6, 2) == default_sweeps(1000, 300) == 100


def test_burn_in_beyond_the_default_sweeps_is_refused():
    X, y = make_moons(4000, noise=0.2, random_state=0)
    with pytest.raises(ValueError, match=r"burn_in=250.*n_sweeps=250"):
        InfiniteSVC(burn_in=250, random_state=0).fit(X, y)


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
