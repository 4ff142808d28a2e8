"""Ctrl-C: a fit stops at the end of the step under way, and keeps the draws that there are."""

import signal

import numpy as np
import pytest

import bayesmargin
from bayesmargin import MedLDAClassifier
from bayesmargin.errors import InterruptedWarning
from bayesmargin.models.medlda.learners import OnlineLearner
from bayesmargin.models.medlda.training import Training
from bayesmargin.report.context import make_context
from bayesmargin.running.progress import Silence, watching

rng = np.random.default_rng(0)
y = np.repeat(["moon", "star", "tree"], 80)
RATES = {"moon": [3, 3, 0.2, 0.2, 0.2, 0.2], "star": [0.2, 0.2, 3, 3, 0.2, 0.2]}
X = rng.poisson([RATES.get(label, [0.2, 0.2, 0.2, 0.2, 3, 3]) for label in y])


class Impatient(Silence):
    """A display whose reader presses Ctrl-C when so many steps are done."""

    shown = True

    def __init__(self, steps):
        self.steps, self.done = steps, 0

    def update(self, stage, done, total, detail):
        self.done = done
        if done == self.steps:
            signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def ctrl_c():
    """The handler of a program in a terminal; there is none where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def small(**settings):
    batches = {} if settings.get("sampler") == "gibbs" else {"sampler__batch_size": 64}
    return MedLDAClassifier(n_topics=3, random_state=0, **batches, **settings)


def interrupted(steps, matching, **settings):
    model = small(**settings)
    with watching(Impatient(steps)), pytest.warns(InterruptedWarning, match=matching) as caught:
        model.fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    return model


@pytest.mark.parametrize("method", ["ssgrld", "gibbs"])
def test_ctrl_c_in_the_first_half_ends_the_fit(method):
    model = small(sampler=method, sampler__n_passes=20)
    display = Impatient(8)
    with watching(display), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert display.done == 8
    assert not hasattr(model, "posterior_")


@pytest.mark.parametrize(
    ("method", "rule"), [("ssgrld", "multi_task"), ("ssgrld", "ovr"), ("gibbs", "multi_task")]
)
def test_ctrl_c_in_the_second_half_keeps_its_draws(method, rule):
    settings = {"sampler": method, "multi_class": rule, "sampler__n_passes": 20, "n_draws": 5}
    whole = small(**settings).fit(X, y)
    total = whole.posterior_[0].length
    done = (3 * total) // 4
    steps = "sweeps" if method == "gibbs" else "minibatches"
    model = interrupted(done, f"after {done} of {total} {steps}.*fit again", **settings)
    for mine, its in zip(model.posterior_, whole.posterior_, strict=True):
        assert 2 <= len(mine.coef) == len(mine.topics) <= 3  # none of the first half
        for k, draw in enumerate(mine.coef):
            np.testing.assert_array_equal(draw, its.coef[k])
            np.testing.assert_array_equal(mine.topics[k], its.topics[k])
    assert model.score(X, y) > 0.9
    assert model.predict_proba(X).shape == (240, 3)
    assert "interrupted" not in str(whole.diagnostics_)
    assert model.diagnostics_.trustworthy is False
    assert "interrupted" in str(model.diagnostics_)


def test_passive_aggressive_keeps_what_it_has_absorbed():
    model = interrupted(3, r"after 3 of \d+ minibatches", sampler="pa", sampler__n_passes=3)
    assert [len(posterior.coef) for posterior in model.posterior_] == [1, 1]
    assert model.score(X, y) > 0.8


def test_ctrl_c_in_the_last_step_comes_too_late():
    model = small(sampler="gibbs", sampler__n_passes=10)
    with watching(Impatient(10)):
        assert model.fit(X, y).posterior_[0].length == 10


def test_a_fit_cut_short_can_be_saved_and_gone_on_with(tmp_path):
    model = interrupted(100, "after 100 of")
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert "interrupted" in str(loaded.diagnostics_)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for _ in range(3):
        loaded.partial_fit(X, y)
    assert loaded.posterior_[0].streamed
    assert "interrupted" not in str(loaded.diagnostics_)
    assert loaded.score(X, y) > 0.9


def test_a_second_half_without_a_draw_yet_keeps_its_state():
    model = interrupted(80, "after 80 of", n_draws=1, n_chains=1)
    assert len(model.posterior_[0].coef) == len(model.posterior_[0].topics) == 1
    np.testing.assert_array_equal(model.coef_, model._training.learners[0].chain.coef)


def test_the_report_says_so():
    context = make_context(interrupted(100, "after 100 of"), None, None)
    assert "interrupted" in str(context.diagnostics)


def press_in(monkeypatch, times):
    """Press Ctrl-C in the midst of these minibatches."""
    read, count = OnlineLearner._read, [0]

    def pressed(self, chain):
        count[0] += 1
        if count[0] in times:
            signal.raise_signal(signal.SIGINT)
        read(self, chain)

    monkeypatch.setattr(OnlineLearner, "_read", pressed)


def test_a_stream_ends_after_the_minibatch_under_way(monkeypatch):
    model = small(n_chains=1)
    press_in(monkeypatch, [3])
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream([(X, y)] * 4, classes=np.unique(y))
    assert model._training.learners[0].chain.time == 3
    assert model._training.n_seen < 228
    assert model.predict(X).shape == y.shape
    model.fit_stream([(X, y)] * 4, classes=np.unique(y))
    assert model.score(X, y) > 0.9


def test_ctrl_c_in_the_midst_of_a_minibatch_keeps_the_draws(monkeypatch):
    model = small(n_chains=1)
    press_in(monkeypatch, [101])
    with pytest.warns(InterruptedWarning, match="after 101 of"):
        model.fit(X, y)
    assert len(model.posterior_[0].coef) >= 1


def test_ctrl_c_while_probabilities_are_learned_costs_no_draws(monkeypatch):
    model = small(sampler="gibbs", sampler__n_passes=10)
    with monkeypatch.context() as patch:
        patch.setattr(Training, "link", lambda self: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert len(model.posterior_[0].coef) == 5
    assert model.predict_proba(X).shape == (240, 3)


def test_a_second_ctrl_c_stops_at_once(monkeypatch):
    model = small(n_chains=3)
    press_in(monkeypatch, [301, 302])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "posterior_")


def test_what_the_shell_has_taught_to_ignore_ctrl_c_goes_on():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with watching(Impatient(8)):
        model = small(sampler="gibbs", sampler__n_passes=10).fit(X, y)
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is signal.SIG_IGN
    assert len(model.posterior_[0].coef) == 5
