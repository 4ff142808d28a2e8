"""What a user of BayesianLinearSVC meets: hard data, long runs, bad steps, interrupts."""

import functools
import re
import threading
import warnings

import numpy as np
import pandas
import pytest
import scipy.sparse

import bayesmargin.running.chains
from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import (
    BiasWarning,
    ConvergenceWarning,
    DataError,
    DivergenceError,
    InterruptedWarning,
    ScalingWarning,
    StepSizeWarning,
)
from bayesmargin.models.scaling import check_scales
from bayesmargin.samplers import SGHMC, SSGLD, SSGNHT


def noisy_rows(n_rows, n_features, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    return X, X[:, 0] - 0.5 * X[:, 1] + noise * rng.standard_normal(n_rows) > 0


HARD = {
    "three rows": lambda: (np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1])),
    "ten rows": lambda: noisy_rows(10, 3),
    "more features than rows": lambda: noisy_rows(30, 80),
    "separable": lambda: noisy_rows(300, 4, noise=0.0),
    "scales": lambda: (lambda X, y: (X * 10.0 ** np.array([-6, -3, 0, 6]), y))(*noisy_rows(800, 4)),
    "a feature in the billions": lambda: (lambda X, y: (X * np.array([1.0, 1e9]), y))(
        *noisy_rows(400, 2)
    ),
    "constant and repeated features": lambda: (
        lambda X, y: (np.column_stack([X, X, np.ones(len(X))]), y)
    )(*noisy_rows(300, 3)),
    "nothing to learn from": lambda: (np.zeros((40, 2)), np.arange(40) % 2),
    "single precision": lambda: (lambda X, y: (X.astype(np.float32), y))(*noisy_rows(400, 4)),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_data_need_no_tuning(case):
    X, y = HARD[case]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BayesianLinearSVC(random_state=0, n_draws=400).fit(X, y)
    assert model.diagnostics_.trustworthy
    assert np.all(np.isfinite(model.posterior_["coef"]))
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_one_in_a_thousand():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 4)), np.zeros(20_000, dtype=int)
    y[:20] = 1
    X[:20] += 1.5
    model = BayesianLinearSVC(random_state=0, n_draws=300).fit(X, y)
    assert model.diagnostics_.trustworthy
    average = model.predict_proba(X)[:, 1].mean()
    assert 0.2e-3 < average < 5e-3


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    label = np.arange(404) % 101
    X = 8.0 * rng.standard_normal((101, 3))[label] + rng.standard_normal((404, 3))
    model = BayesianLinearSVC(random_state=0, n_draws=50, n_chains=2, sampler="ssgnht")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, label)
    assert model.posterior_["coef"].shape == (2, 50, 101, 3)
    assert model.score(X, label) > 0.8


@functools.cache
def exact_fit(prior):
    """Exact draws that all samplers are compared with; tests must not change it."""
    exact = BayesianLinearSVC(sampler="gibbs", prior=prior, prior_scale=0.5, random_state=99)
    return exact.fit(*noisy_rows(500, 3))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("sampler", ["auto", "ssgld", "sghmc", "hmc", "gibbs"])
def test_samplers_agree(sampler, prior):
    X, y = noisy_rows(500, 3)
    model = BayesianLinearSVC(sampler=sampler, prior=prior, prior_scale=0.5, random_state=0)
    model.fit(X, y)
    exact = exact_fit(prior)
    spread = exact.posterior_["coef"].std(axis=(0, 1))
    ess = min(model.diagnostics_.min_bulk_ess, exact.diagnostics_.min_bulk_ess)
    error = (model.coef_[0] - exact.coef_[0]) / spread
    assert np.abs(error).max() < 4.0 * np.sqrt(2.0 / ess) + 0.05
    ratio = model.posterior_["coef"].std(axis=(0, 1)) / spread
    assert np.abs(ratio - 1.0).max() < 4.0 * np.sqrt(1.0 / ess) + 0.05


def test_a_step_of_the_users_that_diverges_is_an_error():
    X, y = noisy_rows(300, 3)
    for sampler in (SSGLD(step=50.0), SSGNHT(step=40.0), SGHMC(step=30.0)):
        with pytest.raises(DivergenceError, match="smaller step"):
            BayesianLinearSVC(sampler=sampler, n_draws=200, random_state=0).fit(X, y)


def test_a_noisy_run_warns_once_and_says_what_to_do():
    X, y = noisy_rows(5000, 3)
    hot = SSGLD(step=0.5, batch_size=5, control_variates=False, burn_in=500, thin=20)
    with pytest.warns(BiasWarning, match="smaller step or a larger batch_size") as caught:
        model = BayesianLinearSVC(sampler=hot, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert model.diagnostics_.temperature > 1.5
    assert not model.diagnostics_.trustworthy


def test_chains_too_short_warn():
    X, y = noisy_rows(300, 3)
    short = SSGLD(step=0.01, burn_in=0, thin=1)
    with pytest.warns(ConvergenceWarning, match="have not converged"):
        BayesianLinearSVC(sampler=short, random_state=0, n_draws=50).fit(X, y)


def test_an_interrupt_keeps_the_draws_made_so_far(monkeypatch):
    X, y = noisy_rows(300, 3)
    original, calls = bayesmargin.running.ensemble.run_chains, []

    def interrupted(chains, n_draws, thin, n_jobs):
        original(chains, n_draws, thin, n_jobs)
        calls.append(n_draws)
        if len(calls) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr("bayesmargin.running.ensemble.run_chains", interrupted)
    monkeypatch.setattr("bayesmargin.running.rounds.ROUND_SECONDS", 1e-4)
    fixed = SSGNHT(step=0.2, thin=5, burn_in=0)
    model = BayesianLinearSVC(sampler=fixed, random_state=0, n_draws=1000)
    with pytest.warns(InterruptedWarning, match="interrupted"):
        model.fit(X, y)
    assert 4 <= model.posterior_.n_draws < 1000
    assert model.predict(X).shape == (300,)


def test_progress_in_a_log_file(capsys):
    X, y = noisy_rows(300, 3)
    BayesianLinearSVC(random_state=0, verbose=1, n_draws=100).fit(X, y)
    said = capsys.readouterr().err
    assert "warm-up" in said
    assert "sampling: 100/100" in said
    assert "worst R-hat" in said


def test_fits_in_threads_do_not_disturb_each_other():
    X, y = noisy_rows(300, 3)
    alone = BayesianLinearSVC(random_state=5, n_draws=100).fit(X, y).coef_
    found = {}

    def work(name):
        found[name] = BayesianLinearSVC(random_state=5, n_draws=100).fit(X, y).coef_

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for coef in found.values():
        np.testing.assert_array_equal(coef, alone)


def test_decaying_steps_give_equally_weighted_draws():
    X, y = noisy_rows(500, 3)
    decaying = SSGLD(step=0.4, schedule="polynomial", offset=1000.0, exponent=1 / 6)
    model = BayesianLinearSVC(sampler=decaying, random_state=0).fit(X, y)
    exact = BayesianLinearSVC(sampler="gibbs", random_state=1).fit(X, y)
    spread = exact.posterior_["coef"].std(axis=(0, 1))
    assert np.abs((model.coef_ - exact.coef_)[0] / spread).max() < 0.25
    ratio = model.posterior_["coef"].std(axis=(0, 1)) / spread
    assert np.abs(ratio - 1.0).max() < 0.15
    # Later draws were made with smaller steps: some of them are dropped, early ones repeated.
    chain = model.posterior_["coef"][0, :, 0]
    repeats = chain[1:] == chain[:-1]
    assert repeats[:300].sum() > repeats[-300:].sum()


@pytest.mark.slow
def test_decaying_steps_of_default_length_converge():
    """The length of the run was that of the first step, a fiftieth of what the decay asks for."""
    X, y = noisy_rows(300, 3)
    sampler = SSGLD(schedule="polynomial")
    assert sampler.relaxation(0.2) == pytest.approx(2500.0, rel=0.01)  # p = 50 (1 + 50 p)^(1/3)
    model = BayesianLinearSVC(sampler=sampler, n_draws=300, random_state=0).fit(X, y)
    assert model.diagnostics_.trustworthy
    assert model.diagnostics_.min_bulk_ess > 200


@pytest.mark.parametrize("preconditioner", ["adagrad", "rmsprop"])
def test_learned_scales_report_a_sensible_temperature(preconditioner):
    X, y = noisy_rows(2000, 3)
    step = 0.5 if preconditioner == "adagrad" else 0.005
    sampler = SSGLD(
        step=step,
        preconditioner=preconditioner,
        control_variates=False,
        batch_size=100,
        burn_in=5000,
        thin=50,
        freeze_after=3000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiasWarning)
        model = BayesianLinearSVC(sampler=sampler, random_state=0, n_draws=500).fit(X, y)
    assert 1.0 <= model.diagnostics_.temperature < 10.0
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("preconditioner", ["adagrad", "rmsprop"])
@pytest.mark.parametrize("prior_scale", [0.5, 2.0])
def test_a_weight_that_no_row_touches_keeps_to_its_prior(preconditioner, prior_scale):
    """Its scale was 100,000, and Euler steps threw it farther away each time."""
    X, y = noisy_rows(500, 3)
    X[:, 2] = 0.0
    sampler = SSGLD(
        step=0.5 if preconditioner == "adagrad" else 0.005,
        preconditioner=preconditioner,
        control_variates=False,
        batch_size=10,
        burn_in=1000,
        thin=50,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the scales of the others are not worth a word here
        model = BayesianLinearSVC(prior_scale=prior_scale, sampler=sampler, random_state=0)
        model.fit(X, y)
    untouched = model.posterior_["coef"][..., 2]
    assert untouched.std() == pytest.approx(prior_scale, rel=0.06)
    assert model.score(X, y) > 0.7


def test_a_step_that_takes_ages_is_remarked_on(monkeypatch):
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    monkeypatch.setattr("bayesmargin.running.ensemble.run_chains", stop)
    slow = BayesianLinearSVC(sampler=SSGLD(step=1e-4), n_draws=5, n_chains=2, random_state=0)
    said = pytest.warns(StepSizeWarning, match=r"step=0.0001 .* iterations .* warm up")
    with said, pytest.raises(StopError):
        slow.fit(*noisy_rows(100, 3))


def test_columns_far_from_zero_are_named():
    """Such as a time in seconds since 1970: its weight and the intercept undo each other."""
    X, y = noisy_rows(300, 3)
    table = pandas.DataFrame({"income": X[:, 0], "time": X[:, 1] + 1e6, "one": np.ones(300)})
    with pytest.warns(ScalingWarning, match=r"feature 'time': mean 1e\+06 .* standardise"):
        BayesianLinearSVC(n_draws=50, n_chains=2, random_state=0).fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScalingWarning)
        BayesianLinearSVC(n_draws=50, n_chains=2, random_state=0).fit(table[["income", "one"]], y)


def test_a_value_far_from_the_rest_of_its_column_is_named():
    """Time grows with its size: 3 s for 1e4, minutes for 1e6."""
    X, y = noisy_rows(300, 3)
    X[:, 1] = np.arange(300) % 100 == 7  # rare ones are no outliers
    model = BayesianLinearSVC(n_draws=50, n_chains=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScalingWarning)
        model.fit(X, y)
    X[40, 2] = -2e4
    with pytest.warns(ScalingWarning, match=r"feature 2: -2e\+04 in row 40 .* mend it") as said:
        model.fit(X, y)
    assert said[0].filename == __file__
    many = np.tile(X, (100, 1))  # of which every third row is looked at
    many[:, 2] = np.tile(noisy_rows(300, 3)[0][:, 2], 100)
    many[4, 2] = 1e6
    with pytest.warns(ScalingWarning, match=r"feature 2: 1e\+06 in row 4 "):
        check_scales(many)


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_matrix, pandas.DataFrame])
@pytest.mark.parametrize("value", [-2e19, 1e300])
def test_values_too_large_to_compute_with_are_named(kind, value):
    X, y = noisy_rows(60, 3)
    X[7, 2] = value
    rows = kind(X) if kind is not pandas.DataFrame else pandas.DataFrame(X, columns=list("abc"))
    name = "'c'" if kind is pandas.DataFrame else "2"
    told = re.escape(f"feature {name} is {value:g} in row 7 (counted from 0)")
    with pytest.raises(DataError, match=told):
        BayesianLinearSVC(n_draws=50, n_chains=2, random_state=0).fit(rows, y)
