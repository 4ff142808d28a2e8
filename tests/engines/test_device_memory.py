"""What a fit takes on a device is known before it starts, and told where there is less."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin import BayesianLinearSVC
from bayesmargin.calibration.leave_one_out import leave_one_out_jointly
from bayesmargin.engines import crew, memory, predicting
from bayesmargin.engines.memory import needed
from bayesmargin.engines.predicting import scores_with_spread, shares_of_votes, spread_of_scores
from bayesmargin.engines.samplers import ArraySampler
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.models.linear import predictions, spread
from bayesmargin.models.linear.calibrating import left_out_on_device
from bayesmargin.models.linear.scores import draw_scores, mean_scores
from bayesmargin.models.linear.spread import contrast_variance, score_variance, scores_with_variance
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import sample
from bayesmargin.samplers import SSGNHT
from tests.conftest import make_problem


class SmallDevice:
    def memory_stats(self):
        return {"bytes_limit": 1e5}

    platform = "cpu"


def problem_of(n_rows, n_columns, n_classes=3):
    X = np.ones((n_rows, n_columns), np.float32)
    return make_problem(X, np.arange(n_rows) % n_classes, n_classes=n_classes)


def test_rows_are_counted_twice_and_half_as_much_in_bfloat16():
    single, half = (needed(problem_of(60_000, 50), 4, dtype) for dtype in ("float32", "bfloat16"))
    assert 2 * 60_000 * 50 * 4 < single < 2.5e8
    assert single - half == pytest.approx(2 * 60_000 * 50 * 2, rel=0.01)


def test_a_device_that_is_too_small_is_told_before_anything_is_loaded(monkeypatch):
    monkeypatch.setattr(memory.jax, "devices", lambda: [SmallDevice()])
    X, y = np.random.default_rng(0).standard_normal((400, 30)), np.arange(400) % 3
    with pytest.raises(ValueError, match=r"about .* GB on a device .*n_chains=4"):
        BayesianLinearSVC(engine="jax", random_state=0).fit(X, y)


def test_of_draws_that_take_too_much_memory_some_are_kept_and_all_are_counted(monkeypatch):
    rng = np.random.default_rng(0)
    problem = make_problem(rng.standard_normal((80, 2)), rng.integers(0, 3, 80), n_classes=3)
    sampler = ArraySampler(SSGNHT(step=0.2, burn_in=20, thin=2))

    def run():
        with pytest.warns(UserWarning, match="not converged"):
            return sample(problem, sampler, spawn_generators(1, 3), 30, 1, progress_for(0))

    every = run()
    monkeypatch.setattr(crew, "MEMORY_LIMIT", every.weights[:, ::4].nbytes)
    monkeypatch.setattr(crew, "MOST_DRAWS", 7)
    some = run()
    assert some.weights.shape == (2, 8, every.weights.shape[2])
    contrasts = [
        run.weights.reshape(2, -1, 3, 2)[:, :, 1:] - run.weights.reshape(2, -1, 3, 2)[:, :, :1]
        for run in (every, some)
    ]
    assert contrasts[1] == pytest.approx(contrasts[0][:, ::4], abs=1e-5)
    for one, other in zip(every.moments, some.moments, strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-5)
    centred = every.weights.reshape(60, 3, 2)
    centred = centred - centred.mean(axis=1, keepdims=True)
    assert some.moments[0].reshape(3, 2) == pytest.approx(centred.mean(axis=0), abs=1e-5)


def draws_of_scores(dtype=np.float32):
    rng = np.random.default_rng(2)
    weights = (5.0 + rng.standard_normal((30, 3, 5))).astype(dtype)
    X = rng.standard_normal((50, 4)).astype(np.float32)
    return X, weights[..., :-1], weights[..., -1], rng.integers(0, 3, 50)


@pytest.mark.parametrize("room", [1000, 100], ids=["kept", "in groups"])
def test_scores_on_a_device_are_known_as_well_as_on_the_host(room, monkeypatch):
    X, coef, intercept, leader = draws_of_scores()
    truth = score_variance(X, coef, intercept)
    between = contrast_variance(X, coef, intercept, leader)
    monkeypatch.setattr(predicting, "SCORES", 60)
    monkeypatch.setattr(predicting, "WEIGHTS", room)
    assert spread_of_scores(X, coef, intercept) == pytest.approx(truth, rel=1e-4)
    found = spread_of_scores(X, coef, intercept, leader)
    assert found == pytest.approx(between, rel=1e-4, abs=1e-5)
    mean = coef[3], intercept[3]
    scores, variance = scores_with_spread(X, mean, coef, intercept)
    assert scores == pytest.approx(mean_scores(X, *mean), rel=1e-5)
    assert variance == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("room", [1000, 100], ids=["kept", "in groups"])
def test_votes_on_a_device_are_those_of_the_draws(room, monkeypatch):
    X, coef, intercept, _ = draws_of_scores()
    monkeypatch.setattr(predicting, "SCORES", 60)
    monkeypatch.setattr(predicting, "WEIGHTS", room)
    scores = draw_scores(X, coef, intercept)
    winners = (scores.argmax(axis=2)[..., None] == np.arange(3)).mean(axis=0)
    assert 0.1 < winners.min(axis=1).max() < 0.5
    assert shares_of_votes(X, coef, intercept, signs=False) == pytest.approx(winners, abs=1e-6)
    signs = (scores > 0.0).mean(axis=0)
    assert shares_of_votes(X, coef, intercept, signs=True) == pytest.approx(signs, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_votes_on_a_device_as_on_the_host(n_classes, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((90, 3))
    y = (X[:, :1] + rng.standard_normal((90, n_classes))).argmax(axis=1)
    model = BayesianLinearSVC(n_draws=40, n_chains=2, random_state=0, sampler="gibbs").fit(X, y)
    here = model.predict_votes(X)
    monkeypatch.setattr(predictions, "worth_a_device", lambda *_: True)
    assert model.predict_votes(X) == pytest.approx(here, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_come_from_where_their_variances_do_if_they_are_in_single_precision(
    dtype, monkeypatch
):
    rng = np.random.default_rng(3)
    X, coef = rng.standard_normal((40, 7)).astype(dtype), rng.standard_normal((9, 70, 7))
    intercept, mean = rng.standard_normal((9, 70)), (coef.mean(axis=0), np.ones(70))
    monkeypatch.setattr(spread, "worth_a_device", lambda *_: False)
    here = scores_with_variance(X, mean, coef, intercept)
    asked = []

    def on_device(*arguments):
        asked.append(arguments)
        return scores_with_spread(*arguments)

    monkeypatch.setattr(spread, "worth_a_device", lambda *_: True)
    monkeypatch.setattr(predicting, "scores_with_spread", on_device)
    there = scores_with_variance(X, mean, coef, intercept)
    assert len(asked) == (dtype is np.float32)
    for one, other in zip(here, there, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


def test_rows_are_left_out_on_a_device_as_on_the_host():
    X, coef, intercept, label = draws_of_scores()
    coef, intercept = 0.2 * coef, 0.2 * intercept
    cost = np.linspace(0.5, 2.0, len(X))
    scores = draw_scores(X, coef, intercept)
    own = np.arange(3) == label[:, None]
    slack = 1.0 + np.where(own, -np.inf, scores).max(axis=2) - scores[:, own]
    truth = leave_one_out_jointly(scores.astype(float), slack.astype(float), cost)
    found = left_out_on_device(X, label, (coef, intercept), 1.0, cost)
    for one, other in zip(found, truth, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-3)


def test_draws_stay_on_the_device_while_they_live_and_are_as_they_were(monkeypatch):
    X, coef, intercept, _ = draws_of_scores()
    monkeypatch.setattr(predicting, "_kept", kept := {})
    before = spread_of_scores(X, coef, intercept)
    (first,) = kept.values()
    spread_of_scores(X[:20], coef[:], intercept[:])
    (second,) = kept.values()
    assert second is first
    coef *= 2.0
    after = spread_of_scores(X, coef, np.zeros_like(intercept))
    assert after == pytest.approx(score_variance(X, coef, np.zeros_like(intercept)), rel=1e-4)
    assert not np.allclose(after, before)
    monkeypatch.setattr(predicting, "WEIGHTS", coef.size)
    other = coef.copy()
    spread_of_scores(X, other, intercept)
    assert len(kept) == 1  # there is room for one
    del other
    assert not kept


def test_many_scores_of_rows_in_single_precision_stay_in_it():
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((40, 7)).astype(np.float32), rng.standard_normal((70, 7))
    found = mean_scores(X, coef, np.ones(70))
    assert found.dtype == np.float32
    assert found == pytest.approx(mean_scores(X.astype(float), coef, np.ones(70)), abs=1e-5)
    assert mean_scores(X, coef[:3], np.ones(3)).dtype == float
