"""Which training rows pull, and that the scores are made of their pulls."""

import numpy as np
from sklearn.datasets import make_moons

from bayesmargin import BayesianSVC
from bayesmargin.models.kernel.kernels import RBF


def test_mean_scores_are_made_of_pulls():
    X, y = make_moons(80, noise=0.2, random_state=0)
    settings = {"C": 3.0, "gamma": 1.0, "n_components": 80}
    model = BayesianSVC(**settings, n_draws=2000, random_state=0).fit(X, y)
    features, _, _ = model.map_.features(X)
    mean = features @ model.coef_[0] + model.intercept_[0]
    made = (RBF().between(X, X, 1.0) + 1.0) @ (np.where(y == 1, 1.0, -1.0) * model.pulls_)
    away = made - mean  # from draw to draw the sum of all pulls has an sd of 11
    assert abs(away.mean()) < 5.0 * 2.0 * 11.0 / np.sqrt(8000)
    assert away.std() < 0.15 * mean.std()
    table = model.support()
    assert (np.diff(table["pull"]) <= 0.0).all()
    assert table["pull"].max() <= 3.0
    assert 0 < table["at_kink"].sum() < 80
    assert len(model.support(least=0.5)) < len(table)


def test_rows_without_weight_pull_nothing_and_copies_alike():
    X, y = make_moons(40, noise=0.2, random_state=0)
    X, y, weight = np.vstack([X, X[:5]]), np.append(y, y[:5]), np.ones(45)
    weight[10] = 0.0
    settings = {"C": 3.0, "gamma": 1.0, "n_components": 20}
    model = BayesianSVC(**settings, n_draws=100, random_state=0).fit(X, y, sample_weight=weight)
    assert model.pulls_[10] == 0.0
    np.testing.assert_array_equal(model.pulls_[:5], model.pulls_[40:])
