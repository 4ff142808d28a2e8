"""Decisions, draws of probabilities and forecasts of rows left out, of the linear model."""

import numpy as np
import pytest
from scipy.special import expit

import bayesmargin
from bayesmargin import BayesianLinearSVC
from bayesmargin.decisions import compare_left_out

SLOPES = np.array([1.5, -0.8, 0.0])


def rows(rng, count):
    X = rng.standard_normal((count, 3))
    return X, np.where(rng.random(count) < expit(1.5 * (X @ SLOPES)), "yes", "no")


@pytest.fixture(scope="module")
def model():
    X, y = rows(np.random.default_rng(0), 400)
    return BayesianLinearSVC(n_draws=300, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((240, 2))
    scores = X @ np.array([[2.0, -1.0, -1.0], [0.0, 2.0, -2.0]])
    y = (scores + rng.gumbel(size=(240, 3))).argmax(axis=1)
    return BayesianLinearSVC(n_draws=300, random_state=0).fit(X, y), X, y


def test_forecasts_of_rows_left_out_are_those_of_fits_without_them(model):
    X, y = rows(np.random.default_rng(0), 400)
    found = model.leave_one_out_proba_
    assert found.shape == (400, 2)
    inside = np.abs(found - model.predict_proba(X)).max(axis=1)
    for row in np.argsort(-inside)[:3]:  # those that leaving out changes most
        rest = np.arange(400) != row
        without = BayesianLinearSVC(n_draws=300, random_state=0).fit(X[rest], y[rest])
        np.testing.assert_allclose(
            without.predict_proba(X[row : row + 1])[0], found[row], atol=0.02
        )


def test_rows_left_out_keep_their_order_when_rows_are_joined():
    X, y = rows(np.random.default_rng(2), 60)
    again = np.concatenate([X, X[::-1]]), np.concatenate([y, y[::-1]])
    weight = np.ones(120)
    weight[5] = 0.0
    model = BayesianLinearSVC(n_draws=200, random_state=0).fit(*again, sample_weight=weight)
    found = model.leave_one_out_proba_
    assert np.isnan(found[5]).all()
    np.testing.assert_array_equal(found[60:][::-1][6:], found[6:60])
    right = (found[:, 1] > 0.5) == (again[1] == "yes")
    assert right[6:].mean() > 0.6


def test_draws_of_probabilities_have_their_mean(model, three):
    X = rows(np.random.default_rng(3), 200)[0]
    for fitted, points in ((model, X), (three[0], three[1])):
        draws = fitted.sample_proba(points, 600, random_state=0)
        np.testing.assert_allclose(draws.sum(axis=2), 1.0)
        np.testing.assert_allclose(draws.mean(axis=0), fitted.predict_proba(points), atol=0.02)
        np.testing.assert_array_equal(draws, fitted.sample_proba(points, 600, random_state=0))
    far = model.sample_proba(8.0 * X, 200, random_state=0).std(axis=0)
    assert model.sample_proba(X, 2000, random_state=0).shape[0] == 2000  # more than there are
    assert far.mean() > 0.0


def test_rows_far_out_are_new(model, three):
    X = rows(np.random.default_rng(4), 300)[0]
    assert 0.01 < (model.novelty(X) > 1.0).mean() < 0.12
    assert (model.novelty(10.0 * X) > 1.0).mean() > 0.9
    fitted, points, _ = three
    assert (fitted.novelty(10.0 * points) > 1.0).mean() > 0.9


def test_risk_and_coverage_are_kept_on_further_rows(model, three):
    X, y = rows(np.random.default_rng(5), 20_000)
    answers = model.predict_or_abstain(X, risk=0.2)
    assert 0.2 < (~answers.mask).mean() < 1.0
    assert (answers.compressed() != y[~answers.mask]).mean() < 0.2
    sets = model.predict_set(X, 0.9, empty=True)
    covered = sets[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()
    assert abs(covered - 0.9) < 0.05  # the threshold rests on 400 rows: three times 1.5%
    known = model.predict_set(X, 0.9, empty=True, known=(X, y))
    covered = known[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()
    assert abs(covered - 0.9) < 1e-3
    assert three[0].predict_set(three[1], 0.95).shape == (240, 3)


def test_a_price_decides_who_is_asked(model):
    X, _ = rows(np.random.default_rng(6), 500)
    answers = model.predict_at_cost(X, [[0, 1], [1, 0]], no_answer=0.2)
    certainty = model.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(answers.mask, certainty < 0.8)
    np.testing.assert_array_equal(model.predict_at_cost(X, [[0, 1], [1, 0]]), model.predict(X))


def test_what_decisions_need_is_saved(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.leave_one_out_proba_, model.leave_one_out_proba_)
    X = rows(np.random.default_rng(7), 20)[0]
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    np.testing.assert_array_equal(loaded.novelty(X), model.novelty(X))


def test_a_model_without_forecasts_of_its_rows_asks_for_some(model):
    X, y = rows(np.random.default_rng(8), 50)
    bare = BayesianLinearSVC(n_draws=200, random_state=0).fit(X, y)
    del bare.left_out_
    with pytest.raises(ValueError, match=r"pass them as known=\(X, y\)"):
        bare.predict_set(X)
    with pytest.raises(AttributeError, match="at most 20,000 rows"):
        _ = bare.leave_one_out_proba_
    with pytest.raises(ValueError, match="nothing to compare with"):
        bare.novelty(X)
    with pytest.raises(ValueError, match="holds the labels"):
        model.predict_set(X, known=(X, np.full(50, "perhaps")))


def test_labels_that_arviz_is_handed_are_as_frequent_as_forecast(model, three):
    X, y = rows(np.random.default_rng(9), 300)
    data = model.to_arviz(X, y, n=100, random_state=0)
    drawn = np.asarray(data.posterior_predictive["y"])
    assert drawn.shape == (4, 100, 300)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), model.predict_proba(X)[:, 1], atol=0.12)
    assert abs(drawn.mean() - model.predict_proba(X)[:, 1].mean()) < 0.01
    assert set(np.asarray(data.observed_data["y"]).tolist()) == {0, 1}
    fitted, points, _ = three
    drawn = np.asarray(fitted.to_arviz(points, n=50, random_state=0).posterior_predictive["y"])
    share = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    np.testing.assert_allclose(share, fitted.predict_proba(points).mean(axis=0), atol=0.02)


def test_settings_are_compared_by_rows_left_out(model):
    X, y = rows(np.random.default_rng(0), 400)
    poor = BayesianLinearSVC(n_draws=200, random_state=0).fit(X[:, 2:], y)
    table = compare_left_out({"without what matters": poor, "all": model})
    assert table.index.tolist() == ["all", "without what matters"]
    assert table.loc["all", "difference"] == 0.0
    gap, error = table.loc["without what matters", ["difference", "difference_se"]]
    assert gap > 3.0 * error > 0.0
    # What the table says is the loss of further rows, to within its errors.
    further = rows(np.random.default_rng(10), 20_000)
    chance = model.predict_proba(further[0])
    own = chance[np.arange(20_000), np.searchsorted(model.classes_, further[1])]
    assert abs(-np.log(own).mean() - table.loc["all", "log_loss"]) < 3.0 * table.loc["all", "se"]
    with pytest.raises(ValueError, match="different rows"):
        compare_left_out({1: model, 2: BayesianLinearSVC(n_draws=100).fit(X[:50], y[:50])})
