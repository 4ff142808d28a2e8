"""Components with independent columns: the estimator from end to end."""

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from test_reading import QUICK, rows_of

from bayesmargin import InfiniteSVC, load

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
MEAN_STRENGTH, SCATTER, EXTRA = 0.5, 0.3, 2


@pytest.fixture(scope="module")
def fitted():
    X, y = rows_of(3)
    model = InfiniteSVC(
        components="diag", components__mean_strength=MEAN_STRENGTH,
        components__scatter=SCATTER, components__extra_degrees=EXTRA,
        **QUICK,
    )  # fmt: skip
    return model.fit(X, y), X, y


def test_shares_of_components_are_products_of_student_densities(fitted):
    """Recomputed from the members of every component, column by column."""
    model, X, _ = fitted
    Z, labels = (X - X.mean(axis=0)) / X.std(axis=0), model._labels[-1]
    shares = []
    for k in range(labels.max() + 1):
        members = Z[labels == k]
        kappa, nu = MEAN_STRENGTH + len(members), 3.0 + EXTRA + len(members)
        centre = members.sum(axis=0) / kappa
        scatter = SCATTER * (1 + EXTRA) + (members**2).sum(axis=0) - kappa * centre**2
        width = np.sqrt(scatter * (kappa + 1) / (kappa * nu))
        densities = student.logpdf(Z, nu, centre, width).sum(axis=1)
        shares.append(np.log(len(members)) + densities)
    assert len(shares) > 2
    np.testing.assert_array_equal(model.predict_component(X), np.argmax(shares, axis=0))


def test_centres_of_experts_are_means_and_a_saved_model_answers_the_same(fitted, tmp_path):
    model, X, _ = fitted
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.components.covariance == "diag"
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    labels = model._labels[-1]
    for k, expert in enumerate(again.experts()):
        members = X[labels == k]
        total = MEAN_STRENGTH * X.mean(axis=0) + members.sum(axis=0)
        gap = expert.centre - total / (MEAN_STRENGTH + len(members))
        np.testing.assert_allclose(gap / X.std(axis=0), 0.0, atol=1e-6)


def test_many_columns_of_few_rows_find_components_that_full_covariances_do_not():
    X, y = make_classification(
        1000, 20, n_informative=6, n_redundant=4, n_clusters_per_class=4, random_state=1
    )
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    models = {
        kind: InfiniteSVC(components=kind, n_sweeps=60, random_state=0).fit(X, y)
        for kind in ("full", "diag")
    }
    components = {kind: model.n_components_.mean() for kind, model in models.items()}
    assert components["full"] < 2.0 < 5.0 < components["diag"]
    right = {kind: model.score(X_test, y_test) for kind, model in models.items()}
    assert right["diag"] > right["full"] + 0.03


def test_rows_a_world_away_have_probabilities():
    X, y = rows_of(2)
    model = InfiniteSVC(components="diag", n_sweeps=20, random_state=0).fit(X, y)
    chances = model.predict_proba(np.vstack([X[:1] * 1e30, -X[:1] * 1e90]))
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_draws_do_not_depend_on_threads_or_on_a_checkpoint(tmp_path):
    X, y = rows_of(2)
    settings = {"components": "diag", "n_sweeps": 20, "n_chains": 2, "sampler__groups": 2}
    plain = InfiniteSVC(random_state=3, **settings).fit(X, y)
    other = InfiniteSVC(random_state=3, n_jobs=2, checkpoint=tmp_path / "fit", **settings)
    np.testing.assert_array_equal(plain.predict_proba(X), other.fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    "wrong",
    [
        {"components": "tied"},
        {"components__extra_degrees": -1},
        {"components__extra_degrees": "many"},
    ],
)
def test_wrong_settings_are_refused(wrong):
    X, y = rows_of(2)
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name.split('__')[-1]}={value!r}"):
        InfiniteSVC(**wrong).fit(X, y)


def test_wide_rows_are_not_scattered():
    """As they are where the base measure leaves covariances of 50 columns to the rows."""
    X, y = make_classification(
        1400, 50, n_informative=6, n_redundant=0, n_clusters_per_class=4, class_sep=1.5,
        random_state=1,
    )  # fmt: skip
    settings = {"prediction": "probability", "random_state": 0}
    model = InfiniteSVC(n_sweeps=30, **settings).fit(X[:700], y[:700])
    assert model.n_components_.mean() < 10
    assert model.score(X[700:], y[700:]) > 0.8
    loose = InfiniteSVC(n_sweeps=4, components__extra_degrees=0, **settings).fit(X[:700], y[:700])
    assert loose.n_components_.min() > 100
