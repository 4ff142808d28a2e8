"""Settings chosen by rows left out of a Gaussian fit: the law, and what it chooses."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from bayesmargin import BayesianSVC
from bayesmargin.models.kernel import choosing
from bayesmargin.models.linear.choosing import Profile, part_of, profile_of, searched
from bayesmargin.models.linear.fitting import LinearData


def test_what_is_chosen_is_as_good_on_new_rows_as_any_candidate():
    X, y = make_moons(1300, noise=0.25, random_state=0)
    X, y, X_new, y_new = X[:300], y[:300], X[300:], y[300:]
    settings = {"n_draws": 150, "n_chains": 2, "random_state": 0, "n_components": 30}
    model = BayesianSVC(**settings).fit(X, y)
    assert {"C": model.C_, "gamma": model.gamma_} == model.profile_.best
    assert "as good to within error" in str(model.profile_)
    ours = log_loss(y_new, model.predict_proba(X_new))
    for C, gamma in ((0.1, 0.5), (1.0, 0.1), (1.0, 30.0), (10.0, 1.0)):
        other = BayesianSVC(C=C, gamma=gamma, **settings).fit(X, y)
        assert other.profile_ is None
        assert ours < log_loss(y_new, other.predict_proba(X_new)) + 0.01
    assert abs(model.profile_.loss.min() - ours) < 0.04
    given = BayesianSVC(C=2.0, **settings).fit(X[:80], y[:80])
    assert given.C_ == 2.0
    assert given.profile_.names == ("gamma",)


def test_what_is_chosen_is_among_those_that_are_as_good():
    """The first of two that differ by hardly anything, and by much more than chance."""
    values, loss = np.array([[100.0], [200.0]]), np.array([0.1043, 0.1041])
    profile = Profile(("n_components",), values, loss, np.array([1e-6, 0.0]))
    assert profile.best == {"n_components": 100.0}
    assert profile.flat() == {"n_components": (100.0, 200.0)}


def test_components_are_as_many_as_rows_left_out_ask_for():
    X, y = make_moons(300, noise=0.25, random_state=0)
    model = BayesianSVC(C=5.0, gamma=1.0, n_draws=60, n_chains=2, random_state=0).fit(X, y)
    wanted = model.sizes_.best["n_components"]
    assert model.map_.n_features <= wanted  # of directions that are no rounding there may be fewer
    assert model.map_.n_features > 0.9 * wanted
    assert model.sizes_.loss[model.sizes_.values[:, 0] == wanted] < 1.02 * model.sizes_.loss.min()


def test_of_more_rows_cost_and_width_are_looked_for_again_with_all_features(monkeypatch):
    monkeypatch.setattr(choosing, "ROWS", 300)
    monkeypatch.setattr(choosing, "FEATURES", 20)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    y = (np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(3000) > 0.0) * 1
    asked = []

    def watched(*facts):
        asked.append(facts)
        return searched(*facts)

    monkeypatch.setattr(choosing, "searched", watched)
    model = BayesianSVC(n_draws=60, n_chains=2, random_state=0).fit(X[:700], y[:700])
    wanted = model.sizes_.best["n_components"]
    assert wanted > model.sizes_.values[0, 0]
    assert model.profile_.best == {"C": model.C_, "gamma": model.gamma_}
    assert len(asked) == 2
    assert asked[1][1] == tuple(model.profile_.values[0])  # begins where few features ended
    assert asked[0][1] == (10.0, pytest.approx(0.25, rel=0.05))


def test_a_walk_finds_the_least_loss_and_how_flat_it_is():
    rows = np.random.default_rng(0).standard_normal(400)

    def losses(candidate):
        C, gamma = np.log(candidate)
        return (C - 1.0) ** 2 + 0.5 * (gamma + C) ** 2 + 0.1 * C * rows

    steps = {"C": (10.0, 0.1, 10.0), "gamma": (4.0, 0.05, 20.0)}
    found = searched(("C", "gamma"), (1.0, 1.0), steps, losses, np.ones(400), rounds=4)
    assert abs(np.log(found.best["C"]) - 1.0) < 0.5
    assert abs(np.log(found.best["gamma"]) + 1.0) < 0.5
    low, high = found.flat()["C"]
    assert low <= found.best["C"] <= high
    bounded = searched(
        ("C", "gamma"), (1.0, 1.0), {**steps, "C": (10.0, 0.1, 1.0)}, losses, np.ones(400)
    )
    assert bounded.values[:, 0].max() <= 1.01
    even = profile_of(["C"], [(1.0,), (2.0,)], [rows, rows], np.ones(400))
    assert even.flat() == {"C": (1.0, 2.0)}


def test_a_part_has_rows_of_every_class():
    label = np.repeat([0, 1, 2], [500, 480, 20])
    data = LinearData(np.zeros((1000, 1)), label, np.ones(1000), 3)
    part, index = part_of(data, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(part.label), [50, 48, 2])
    np.testing.assert_array_equal(part.label, label[index])
