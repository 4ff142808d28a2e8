"""A second fit that fails: what was there before is whole, or there is no model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier
from bayesmargin.models.dpmnl import classifier as dpmnl
from bayesmargin.models.infinite_svc import classifier as infinite_svc
from bayesmargin.models.linear import training as linear_svc
from bayesmargin.models.medlda.training import Training

CASES = [
    (BayesianLinearSVC(n_chains=1, n_draws=20, random_state=0), linear_svc, "sample_linear"),
    (
        MedLDAClassifier(n_topics=2, n_chains=1, sampler__n_passes=1, random_state=0),
        Training,
        "run",
    ),
    (InfiniteSVC(n_sweeps=4, random_state=0), infinite_svc, "run_sweeps"),
    (DPMNLClassifier(n_sweeps=4, random_state=0), dpmnl, "run_sweeps"),
]
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: type(case[0]).__name__)


def _rows():
    X = np.random.default_rng(0).poisson(np.tile([[4.0, 1.0], [1.0, 4.0]], (20, 1)))
    return X, np.tile(["cat", "dog"], 20)


@every_model
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("no room")], ids=repr)
def test_a_second_fit_that_is_cut_short_leaves_no_model(case, error, monkeypatch):
    """The linear model and the infinite SVM had given the draws of the first new class names."""
    given, place, name = case
    X, y = _rows()
    model = clone(given).fit(X, y)
    model.note = "mine"

    def fail(*args, **options):
        raise error

    monkeypatch.setattr(place, name, fail)
    with pytest.raises(type(error)):
        model.fit(X[:, [0, 1, 1]], np.where(y == "cat", "yes", "no"))
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    learned = [name for name in vars(model) if name.endswith("_")]
    assert not learned
    assert model.note == "mine"
    assert model.get_params() == given.get_params()


@every_model
@pytest.mark.parametrize("fault", ["y", "X", "checkpoint"])
def test_a_second_fit_that_is_refused_leaves_the_first(case, fault, tmp_path):
    """It knew the number of columns of the second already, and could predict neither."""
    X, y = _rows()
    model = clone(case[0]).fit(X, y)
    before = model.predict_proba(X)
    wide, labels = X[:, [0, 1, 1]].astype(float), y
    if fault == "y":
        labels = np.full(40, "cat")
    elif fault == "X":
        wide[3, 1] = -1.0 if isinstance(model, MedLDAClassifier) else 1e200
    else:
        model.set_params(checkpoint=3)
    with pytest.raises(ValueError, match=r"class|Negative|1e\+200|checkpoint=3"):
        model.fit(wide, labels)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 2


def test_outputs_asked_for_outlive_a_failure(monkeypatch):
    X, y = _rows()
    model = clone(CASES[1][0]).set_output(transform="pandas").fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(Training, "run", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.fit(X, y)
    names = list(model.fit(X, y).transform(X).columns)
    assert names == ["medldaclassifier0", "medldaclassifier1"]


@pytest.mark.parametrize("error", [MemoryError("no room"), ValueError("no rows")], ids=repr)
def test_a_fit_that_fails_inside_a_pipeline_says_why(error, monkeypatch):
    """A pipeline takes back what it wrote on the model, and had found that gone."""

    def fail(*args, **options):
        raise error

    monkeypatch.setattr(linear_svc, "sample_linear", fail)
    pipeline = make_pipeline(StandardScaler(), BayesianLinearSVC(n_draws=20, random_state=0))
    with pytest.raises(type(error), match=str(error)):
        pipeline.fit(*_rows())
