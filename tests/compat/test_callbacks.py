"""scikit-learn's callbacks hear of the stages of our fits."""

import io

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
import sklearn.callback
from sklearn.model_selection import GridSearchCV

import bayesmargin
from bayesmargin import BayesianLinearSVC, DPMNLClassifier
from bayesmargin.models.callbacks import MOST_STEPS
from bayesmargin.running.progress import Silence, watching
from tests.saving.fitted import rows


class Diary:
    """Notes every hook that is called."""

    def __init__(self):
        self.lines = []

    def setup(self, estimator, context):
        self.lines.append("setup")

    def teardown(self, estimator, context):
        self.lines.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.lines.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.lines.append(f"end {context.task_name}")


def small(**settings):
    return DPMNLClassifier(n_sweeps=6, n_draws=2, random_state=0, **settings)


def fitted(diary, model=None):
    X, y = rows()
    return (small() if model is None else model).set_callbacks(diary).fit(X, y)


def test_stages_are_tasks_with_steps():
    diary = Diary()
    fitted(diary)
    assert diary.lines[:2] == ["setup", "begin fit"]
    assert diary.lines[-2:] == ["end fit", "teardown"]
    stages = [line for line in diary.lines if line.startswith("begin") and "step" not in line]
    ended = [line for line in diary.lines if line.startswith("end") and "step" not in line]
    assert len(stages) == len(ended) > 1
    assert diary.lines.count("begin step") == diary.lines.count("end step") == 6


def test_long_stages_have_a_hundred_steps():
    diary = Diary()
    X, y = rows()
    model = BayesianLinearSVC(n_draws=300, n_chains=2, random_state=0).set_callbacks(diary)
    model.fit(X, y)
    last = len(diary.lines) - diary.lines[::-1].index("begin sampling")
    assert diary.lines[last:].count("end step") == MOST_STEPS


def test_callbacks_change_no_draw_and_are_no_part_of_a_saved_model(tmp_path):
    heard, alone = fitted(Diary()), small().fit(*rows())
    np.testing.assert_array_equal(heard.predict_proba(rows()[0]), alone.predict_proba(rows()[0]))
    heard.save(tmp_path / "model")
    assert not hasattr(bayesmargin.load(tmp_path / "model"), "_skl_callbacks")
    assert hasattr(clone(heard), "_skl_callbacks")


def test_a_fit_that_fails_tears_down():
    diary = Diary()
    with pytest.raises(ValueError, match="single class"):
        small().set_callbacks(diary).fit(rows()[0], np.zeros(len(rows()[0])))
    assert diary.lines[-1] == "teardown"


def test_whoever_watches_already_goes_on_watching():
    class Loud(Silence):
        shown = True
        heard = 0

        def update(self, *words):
            self.heard += 1

    loud = Loud()
    with watching(loud):
        fitted(Diary())
    assert loud.heard


def test_the_progress_bar_of_scikit_learn_shows_a_fit_and_a_search(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stdout", screen)
    bar = sklearn.callback.ProgressBar()
    fitted(bar)
    assert "DPMNLClassifier - fit" in screen.getvalue()
    assert "100%" in screen.getvalue()
    X, y = rows()
    GridSearchCV(small(), {"n_draws": [1, 2]}, cv=2).set_callbacks(bar).fit(X, y)
    assert "GridSearchCV" in screen.getvalue()
