"""Several labels a row: an indicator for y, a hinge a label."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier

from bayesmargin import BayesianLinearSVC, load
from bayesmargin.errors import DataError
from bayesmargin.report import write_report

QUICK = {"n_draws": 150, "random_state": 0}


@pytest.fixture(scope="module", params=[2, 3])
def rows(request):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    Y = X[:, : request.param] + 0.5 * rng.standard_normal((400, request.param)) > 0.4
    return X[:300], Y[:300].astype(int), X[300:], Y[300:].astype(int)


@pytest.fixture(scope="module")
def model(rows):
    return BayesianLinearSVC(**QUICK).fit(*rows[:2])


def test_every_label_is_told_apart_as_alone(rows, model):
    X, Y, new, truth = rows
    count = Y.shape[1]
    assert model.classes_.tolist() == list(range(count))
    assert model.coef_.shape == (count, 4)
    assert model.posterior_["coef"].shape == (4, 150, count, 4)
    scores, deviation = model.decision_function(new, return_std=True)
    chance, votes = model.predict_proba(new), model.predict_votes(new)
    assert scores.shape == deviation.shape == chance.shape == votes.shape == truth.shape
    np.testing.assert_array_equal(model.predict(new), scores > 0)
    np.testing.assert_array_equal(model.predict(new), chance > 0.5)
    assert (model.predict(new) == truth).mean() > 0.75
    single = OneVsRestClassifier(BayesianLinearSVC(**QUICK)).fit(X, Y)
    np.testing.assert_allclose(chance, single.predict_proba(new), atol=0.06)
    for k in range(count):
        alone = BayesianLinearSVC(**QUICK).fit(X, Y[:, k])
        spread = alone.posterior_["coef"].std(axis=(0, 1))
        assert np.abs((model.coef_[k] - alone.coef_[0]) / spread).max() < 0.5
        robust = model.posterior_.robust()["coef"][:, :, k].std(axis=(0, 1))
        wanted = alone.posterior_.robust()["coef"].std(axis=(0, 1))
        assert robust == pytest.approx(wanted, rel=0.1)


def test_what_else_a_fit_knows(rows, model, tmp_path):
    X, Y, new, truth = rows
    own = model.leave_one_out_proba_
    assert own.shape == Y.shape
    assert np.mean((own > 0.5) == Y) > 0.75
    assert model.sample_proba(new, 5, random_state=0).shape == (5, *truth.shape)
    assert (model.novelty(50.0 * new) > 1.0).all()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(again.leave_one_out_proba_, own)
    page = write_report(model, tmp_path / "page.html", data=(new, truth)).read_text("utf-8")
    assert "Micro-averaged F1" in page
    other = BayesianLinearSVC(**QUICK).fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(other.predict_proba(new), model.predict_proba(new), atol=0.06)


def test_what_needs_one_label_a_row_says_so(rows, model):
    X, Y, new, _ = rows
    for call in (
        lambda: model.predict_lead(new),
        lambda: model.predict_at_cost(new, np.eye(Y.shape[1])),
        lambda: model.predict_set(new),
        lambda: model.to_arviz(new),
        lambda: model.partial_fit(X, Y),
    ):
        with pytest.raises(ValueError, match="label"):
            call()
    with pytest.raises(ValueError, match="class_weight"):
        BayesianLinearSVC(class_weight="balanced").fit(X, Y)


def test_tables_that_are_no_sets_are_refused(rows):
    X, Y, *_ = rows
    with pytest.raises(DataError, match="zeros and ones"):
        BayesianLinearSVC().fit(X, Y + 1)
    with pytest.raises(DataError, match=r"label 1 .* in no rows"):
        BayesianLinearSVC().fit(X, np.column_stack([Y[:, 0], np.zeros(len(Y), int)]))


def test_after_label_sets_a_fit_to_classes_is_one_of_classes(rows):
    X, Y, new, _ = rows
    model = BayesianLinearSVC(**QUICK).fit(X, Y).fit(X, Y[:, 0])
    assert model.decision_function(new).shape == (len(new),)
    assert model.predict_proba(new).shape == (len(new), 2)
