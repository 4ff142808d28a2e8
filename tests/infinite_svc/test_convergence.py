"""What a fit says about itself: the warning of an unsettled partition, and progress."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.dpmnl import DPMNLClassifier
from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.infinite_svc.settings import default_sweeps
from bayesmargin.models.mixtures.convergence import (
    rhat_so_far,
    settled,
    trace_report,
    warn_if_unsettled,
)


def test_a_drifting_trace_is_told_and_a_settled_one_is_not():
    rng = np.random.default_rng(0)
    settled = trace_report({"components": rng.normal(size=(2, 60))})
    warn_if_unsettled(settled, 60)
    drifting = trace_report({"components": np.linspace(0, 9, 60) + rng.normal(size=(2, 60))})
    with pytest.warns(ConvergenceWarning, match="n_sweeps"):
        warn_if_unsettled(drifting, 60)
    warn_if_unsettled(drifting, 10)  # too short to judge


@pytest.mark.slow
def test_fits_of_few_rows_settle_by_default():
    # With 100 sweeps a third of the fits end with the warning, which is an error here. With the
    # default one in twenty, of the exact samplers as well, has an R-hat above 1.2.
    X, y = make_moons(400, noise=0.2, random_state=0)
    models = [InfiniteSVC(random_state=seed).fit(X, y) for seed in range(6)]
    assert all(model.n_components_.shape == (1, 1000) for model in models)
    rhats = [model.diagnostics_["partition"]["r_hat"] for model in models]
    assert np.sum(np.less(rhats, 1.2)) >= 5
    assert np.median(rhats) < 1.1


def test_chains_of_few_rows_agree_by_default_and_not_after_few_sweeps():
    # Six chains have an R-hat of 1.02 to 1.06, after 100 sweeps 1.18 to 1.40.
    X, y = make_moons(400, noise=0.2, random_state=0)
    default = InfiniteSVC(n_chains=6, random_state=0).fit(X, y)
    assert default.diagnostics_["partition"]["r_hat"] < 1.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        short = InfiniteSVC(n_sweeps=100, n_chains=6, random_state=0).fit(X, y)
    assert short.diagnostics_["partition"]["r_hat"] > 1.1


def test_default_sweeps_fall_with_rows_and_features():
    assert default_sweeps(10, 3) == default_sweeps(500, 10) == 2000
    assert default_sweeps(1000, 10) == 1000
    assert default_sweeps(2500, 10) == 400
    assert default_sweeps(625, 20) == 400
    assert default_sweeps(10**6, 2) == default_sweeps(1000, 300) == 100


def test_burn_in_beyond_the_default_sweeps_is_refused():
    X, y = make_moons(4000, noise=0.2, random_state=0)
    with pytest.raises(ValueError, match=r"burn_in=250.*n_sweeps=250"):
        InfiniteSVC(sampler__burn_in=250, random_state=0).fit(X, y)


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


def one_hot_table():
    """Two numbers and a category of three values, which shuts every component up in one value."""
    rng = np.random.default_rng(0)
    numbers, category = rng.normal(size=(150, 2)), rng.integers(3, size=150)
    labels = (numbers[:, 0] + category - 1 + 0.3 * rng.normal(size=150) > 0).astype(int)
    return np.column_stack([numbers, np.eye(3)[category]]), labels


@pytest.mark.parametrize("n_chains", [1, 2])
def test_a_chain_that_never_moves_is_not_certified(n_chains):
    model = InfiniteSVC(n_sweeps=60, n_chains=n_chains, components__covariates=True, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no row changed its component in the 30 sweeps"):
        model.fit(*one_hot_table())
    found = model.diagnostics_
    assert found["moved"] == 0.0
    for name in ("components", "partition"):
        assert np.isnan(found[name]["r_hat"])
        assert np.isnan(found[name]["effective_draws"])
        assert not settled(found[name], n_chains)


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
def test_the_display_shows_no_rhat_of_rows_that_never_move(capsys):
    model = InfiniteSVC(n_sweeps=60, components__covariates=True, random_state=0, verbose=1)
    model.fit(*one_hot_table())
    shown = capsys.readouterr().err
    assert "60/60" in shown
    assert "R-hat" not in shown


def test_rounding_is_no_change():
    # Chains at the same partition, whose probability is summed in another order.
    still = 300.0 + 1e-12 * np.random.default_rng(0).normal(size=(4, 60))
    frozen = trace_report({"partition": still}, np.zeros((4, 60)))["partition"]
    assert np.isnan(frozen["r_hat"])
    with pytest.warns(ConvergenceWarning, match="no row changed"):
        warn_if_unsettled({"partition": frozen, "moved": 0.0}, 60)
    apart = trace_report({"partition": still + np.arange(4)[:, None]}, np.zeros((4, 60)))
    assert apart["partition"]["r_hat"] == np.inf
    with pytest.warns(ConvergenceWarning, match="stuck at different partitions"):
        warn_if_unsettled(apart, 60)
    assert rhat_so_far(list(still)) == "R-hat 1.000"


def test_a_number_of_components_that_stays_is_fine_while_rows_move():
    found = trace_report({"components": np.full((2, 60), 3.0)}, np.full((2, 60), 0.1))
    assert settled(found["components"], 2)
    warn_if_unsettled(found, 60)


def test_dpmnl_tells_the_share_of_rows_that_moved():
    X, y = make_moons(60, noise=0.2, random_state=0)
    found = DPMNLClassifier(n_sweeps=30, random_state=0).fit(X, y).diagnostics_
    assert 0.0 < found["moved"] < 1.0
