"""Settings and weights that make no sense are refused in words."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    AusterityMetropolis,
    SubgradientHMC,
)

X = np.random.default_rng(0).normal(size=(20, 2))
y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("model", [BayesianLinearSVC, InfiniteSVC])
@pytest.mark.parametrize("value", ["yes", None, 2, 0.5])
def test_an_intercept_is_there_or_not(model, value):
    with pytest.raises(ValueError, match=r"fit_intercept=.* is not allowed: it is True or False"):
        model(fit_intercept=value).fit(X, y)


def test_covariates_are_there_or_not():
    with pytest.raises(ValueError, match=r"covariates='no' .* True, False, 'auto' or 'continuous'"):
        InfiniteSVC(components__covariates="no").fit(X, y)


@pytest.mark.parametrize("model", [BayesianLinearSVC, InfiniteSVC, DPMNLClassifier])
def test_verbose_is_a_number(model):
    with pytest.raises(ValueError, match="verbose='x' is not allowed"):
        model(verbose="x").fit(X, y)


def test_a_class_whose_rows_weigh_nothing():
    with pytest.raises(ValueError, match=r"y without the rows whose sample_weight is zero holds"):
        BayesianLinearSVC().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match=r"^y holds only one class, \[0\]"):
        BayesianLinearSVC().fit(X, np.zeros(20, int))


@pytest.mark.parametrize("value", [np.True_, 1, 0])
def test_numbers_and_numpy_stand_for_flags(value):
    model = BayesianLinearSVC(fit_intercept=value, verbose=np.False_, n_draws=100, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("model", [BayesianLinearSVC, InfiniteSVC, MedLDAClassifier])
@pytest.mark.parametrize("jobs", [0, "all"])
def test_threads_are_counted(model, jobs):
    with pytest.raises(ValueError, match=f"n_jobs={jobs!r} is not allowed"):
        model(n_jobs=jobs).fit(np.abs(X), y)


COUNTS = {
    SSGNHT: ("batch_size", "burn_in", "thin"),
    SSGLD: ("freeze_after",),
    SubgradientHMC: ("n_steps", "burn_in", "thin"),
    AusterityMetropolis: ("batch_size", "minimum", "burn_in", "thin"),
    AugmentationGibbs: ("burn_in", "thin"),
}


@pytest.mark.parametrize(
    ("sampler", "name"), [(sampler, name) for sampler, names in COUNTS.items() for name in names]
)
@pytest.mark.parametrize("value", [2.5, "5", -1, True])
def test_rows_and_iterations_are_counted(sampler, name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed: it is an integer of"):
        sampler(**{name: value})


@pytest.mark.parametrize("n_draws", [2, 3, 4])
def test_a_summary_of_few_draws_has_figures_that_are_not_known(n_draws):
    with pytest.warns(ConvergenceWarning):
        model = BayesianLinearSVC(n_draws=n_draws, n_chains=2, random_state=0).fit(X, y)
    summary = model.posterior_.summary()
    assert summary["sd"].notna().all()
    assert summary["r_hat"].notna().all() == summary["ess_bulk"].notna().all() == (n_draws > 3)


NUMBERS = {
    BayesianLinearSVC: ("C", "margin", "prior_scale"),
    InfiniteSVC: (
        "C",
        "margin",
        "components__mean_strength",
        "components__scatter",
        "concentration",
    ),
    MedLDAClassifier: ("margin", "beta", "sampler__topic_step"),
}


@pytest.mark.parametrize(
    ("model", "name"), [(model, name) for model, names in NUMBERS.items() for name in names]
)
def test_settings_without_a_default_of_none_are_numbers(model, name):
    told = name.split("__")[-1]
    with pytest.raises(ValueError, match=f"{told}=None is not allowed: it is a positive finite"):
        model(**{name: None}).fit(np.abs(X).round(), y)


@pytest.mark.parametrize("model", [*NUMBERS, DPMNLClassifier])
def test_a_checkpoint_is_a_path_with_a_number_of_seconds(model, tmp_path):
    with pytest.raises(ValueError, match="checkpoint=3 is not allowed: it is the path of a folder"):
        model(checkpoint=3).fit(np.abs(X).round(), y)
    with pytest.raises(ValueError, match="every=None is not allowed"):
        model(checkpoint=tmp_path / "c", checkpoint__every=None).fit(np.abs(X).round(), y)


def test_draws_of_another_name_are_told_what_there_is():
    model = BayesianLinearSVC(n_draws=100, n_chains=2, random_state=0).fit(X, y)
    with pytest.raises(KeyError, match="no draws of 'coefs': choose one of 'coef', 'intercept'"):
        model.posterior_["coefs"]
    with pytest.raises(KeyError, match="no draws of 'coefs': choose one of"):
        model.posterior_.flat("coefs")
    assert "coefs" not in model.posterior_


def test_a_model_whose_fit_failed_is_not_fitted():
    model = BayesianLinearSVC()
    with pytest.raises(ValueError, match="class"):
        model.fit(X, np.zeros(len(X)))
    for question in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFittedError):
            question(X)


FLAGS = [
    (SSGLD, "control_variates"),
    (SSGNHT, "control_variates"),
    (SSGLD, "lagged"),
    (SSGLD, "lazy"),
    (AugmentationGibbs, "legacy_frozen_argmax"),
]


@pytest.mark.parametrize(("sampler", "name"), FLAGS)
def test_flags_of_samplers_are_flags(sampler, name):
    """The word "no" would otherwise count as yes."""
    with pytest.raises(ValueError, match=f"{name}='no' is not allowed: it is True or False"):
        sampler(**{name: "no"})
    assert getattr(sampler(**{name: np.True_}), name)


@pytest.mark.parametrize(
    ("sampler", "name"),
    [
        (SSGLD, "exponent"),
        (SGHMC, "noise_estimate"),
        (AusterityMetropolis, "epsilon"),
        (SubgradientHMC, "target_acceptance"),
        (SubgradientHMC, "jitter"),
    ],
)
def test_numbers_of_samplers_are_numbers(sampler, name):
    with pytest.raises(ValueError, match=f"{name}='0.1' is not allowed: it is a number"):
        sampler(**{name: "0.1"})


def test_draws_too_few_to_judge_are_said_to_be_so():
    model = BayesianLinearSVC(n_draws=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match="fewer than 8 draws a chain do not tell"):
        model.fit(X, y)


def test_chains_that_run_away_are_told_to_take_smaller_steps():
    """More draws at a step far too long would not help."""
    model = BayesianLinearSVC(sampler=SSGNHT(step=1.5), random_state=0)
    with pytest.warns(ConvergenceWarning, match="use a smaller step"):
        model.fit(X, y)
