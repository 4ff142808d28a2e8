"""Random features: waves that make the kernel, the posterior that they give, and far rows."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import bayesmargin
from bayesmargin import BayesianSVC
from bayesmargin.models.kernel.fourier import FourierMap, fit_waves, waves
from bayesmargin.models.kernel.kernels import RBF, Laplacian

GIVEN = {"C": 2.0, "gamma": 1.0, "n_draws": 1000, "random_state": 0}


@pytest.mark.parametrize("kernel", [RBF("random"), Laplacian("random")])
def test_products_of_waves_are_the_kernel(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    count = 20_000
    found = waves(X, kernel.frequencies((3, count), 0.3, rng))
    off = found @ found.T - kernel.between(X, X, 0.3)
    # A product is a mean of cosines, each of variance at most one half beyond that of its mean.
    assert np.sqrt(np.mean(off**2)) < 1.3 * np.sqrt(0.5 / count)
    assert np.abs(off).max() < 5.0 * np.sqrt(0.5 / count)


@pytest.mark.parametrize("n_rows", [100, 900])  # fewer rows than waves, and more
def test_directions_are_orthogonal_and_leave_out_little(n_rows):
    X, _ = make_moons(n_rows, noise=0.3, random_state=0)
    found = fit_waves(RBF("random"), 1.0, X, 40, np.random.default_rng(0), 400)
    values, rest, news = found.features(X)
    assert found.mixing.shape == (400, 40)
    np.testing.assert_allclose(found.mixing.T @ found.mixing, np.eye(40), atol=1e-6)
    np.testing.assert_allclose(np.square(values).sum(axis=1) + rest, 1.0)
    off = values @ values.T - RBF().between(X, X, 1.0)
    assert np.sqrt(np.mean(off**2)) < 1.3 * np.sqrt(0.5 / 200)
    assert rest.mean() < 0.02
    assert np.quantile(news, 0.94) == 0.0


@pytest.mark.parametrize("kernel", [RBF("random"), Laplacian("random")])
def test_what_chance_explains_of_strangers_is_taken_off(kernel):
    X, _ = make_moons(900, noise=0.3, random_state=0)
    found = fit_waves(kernel, 1.0, X, 60, np.random.default_rng(0), 400)
    strangers = 1e4 * np.random.default_rng(1).standard_normal((4000, 2))
    raw = np.square(waves(strangers, found.frequencies) @ found.mixing).sum(axis=1)
    assert abs(raw.mean() - 60 / 400) < 0.02  # that is how much chance explains
    values, rest, news = found.features(strangers)
    assert (rest == 1.0).mean() > 0.97
    assert (values[rest == 1.0] == 0.0).all()
    assert (news[rest == 1.0] == 1.0).all()


def test_the_posterior_is_that_of_the_kernel_itself():
    X, y = make_moons(80, noise=0.3, random_state=0)
    exact = BayesianSVC(n_components=80, **GIVEN).fit(X, y)
    wide = np.linspace(-1.5, 2.5, 15)
    rows = np.array([[a, b] for a in wide for b in np.linspace(-1.0, 1.5, 15)])
    wanted, sd = exact.decision_function(rows, return_std=True)
    means, deviations = [], []
    for seed in range(4):
        settings = {**GIVEN, "random_state": seed}
        model = BayesianSVC(n_components=80, kernel=RBF("random"), **settings).fit(X, y)
        assert isinstance(model.map_, FourierMap)
        found = model.decision_function(rows, return_std=True)
        means.append(found[0])
        deviations.append(found[1])
    off = (np.array(means) - wanted) / sd
    # Waves are a sample: a score is a tenth of its deviation off, and of a mean of four half of it.
    assert np.sqrt(np.mean(off**2)) < 0.2
    assert np.sqrt(np.mean(off.mean(axis=0) ** 2)) < 0.7 * np.sqrt(np.mean(off**2))
    ratio = np.array(deviations) / sd
    assert abs(ratio.mean() - 1.0) < 0.02
    assert ratio.std() < 0.05


def test_equal_seeds_draw_alike_and_saved_models_say_the_same(tmp_path):
    X, y = make_moons(150, noise=0.3, random_state=0)
    settings = {"n_draws": 30, "n_components": 12, "random_state": 3}
    model = BayesianSVC(kernel__features="random", **settings).fit(X, y)
    assert model.kernel == RBF("random")
    again = BayesianSVC(kernel__features="random", **settings, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.posterior_["coef"], again.posterior_["coef"])
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_far_rows_get_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    y = np.arange(150) < 30
    X = rng.standard_normal((150, 2)) + np.where(y, 1.5, -0.5)[:, None]
    settings = {"C": 1.0, "n_components": 20, "n_draws": 300, "random_state": 0}
    model = BayesianSVC(kernel__features="random", **settings).fit(X, y)
    far = np.array([[60.0, 0.0], [-30.0, 80.0]])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], 0.2, atol=0.01)
    sd = model.decision_function(far, return_std=True)[1]
    np.testing.assert_allclose(sd[0], np.hypot(1.0, model.posterior_["intercept"].std()), rtol=0.03)


def test_what_is_wrong_is_named():
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ValueError, match=r"features='fourier'.*'landmarks'"):
        BayesianSVC(kernel__features="fourier").fit(X, y)
    with pytest.raises(ValueError, match="PolynomialKernel has no setting features"):
        BayesianSVC(kernel="poly", kernel__features="random")
