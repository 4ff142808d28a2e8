"""Classes that count more or less than their rows."""

import numpy as np
import pytest

import bayesmargin
from bayesmargin import BayesianLinearSVC
from bayesmargin.rows import open_rows


def drawn(count=300, rare=0.1):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(count) < rare, "rare", "usual")
    return rng.standard_normal((count, 2)) + 1.5 * (y == "rare")[:, None], y


def fitted(**settings):
    return BayesianLinearSVC(n_draws=200, n_chains=2, random_state=0, **settings)


def test_class_weights_are_sample_weights_to_the_posterior():
    X, y = drawn()
    weight = np.where(y == "rare", 4.0, 1.0)
    by_class = fitted(class_weight={"rare": 4}).fit(X, y)
    by_row = fitted().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(by_class.posterior_["coef"], by_row.posterior_["coef"])


def test_a_rare_class_that_counts_as_much_as_the_other_is_found():
    X, y = drawn()
    plain, balanced = fitted().fit(X, y), fitted(class_weight="balanced").fit(X, y)
    recall = [(m.predict(X) == y)[y == "rare"].mean() for m in (plain, balanced)]
    assert recall[1] > recall[0] + 0.2
    probability = balanced.predict_proba(X)
    assert (balanced.classes_[probability.argmax(axis=1)] == balanced.predict(X)).all()


def test_weights_of_classes_are_no_further_rows():
    """Copies of rare rows would make intervals narrower; rows that count more do not."""
    X, y = drawn(600)
    by_class = fitted(class_weight={"rare": 4.0, "usual": 1.0}).fit(X, y)
    by_row = fitted().fit(X, y, sample_weight=np.where(y == "rare", 4.0, 1.0))
    each = fitted().fit(X, y, np.where(y == "rare", 4.0, 1.0), groups=np.arange(600))
    spread = [m.posterior_.robust()["coef"].std() for m in (by_class, by_row, each)]
    assert spread[0] > 1.2 * spread[1]
    np.testing.assert_allclose(spread[0], spread[2], rtol=0.1)


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_several_classes_balanced_are_those_of_the_weights(multi_class):
    rng = np.random.default_rng(1)
    y = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    X = rng.standard_normal((200, 2)) + np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[y]
    count = np.bincount(y)
    weights = {k: 200.0 / (3.0 * count[k]) for k in range(3)}
    first = fitted(multi_class=multi_class, class_weight="balanced").fit(X, y)
    second = fitted(multi_class=multi_class, class_weight=weights).fit(X, y)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-6)


def test_a_dictionary_with_numbers_for_labels_is_saved(tmp_path):
    X, y = drawn(100, rare=0.3)
    model = fitted(class_weight={0: 1.0, 1: 3}).fit(X, (y == "rare").astype(int))
    model.save(tmp_path / "model")
    again = bayesmargin.load(tmp_path / "model")
    assert again.class_weight == {0: 1.0, 1: 3}
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rows_of_a_file_have_classes_with_weights_too(tmp_path):
    X, y = drawn()
    np.save(tmp_path / "x.npy", X)
    filed = fitted(class_weight="balanced").fit(open_rows(tmp_path / "x.npy"), y)
    np.testing.assert_allclose(filed.coef_, fitted(class_weight="balanced").fit(X, y).coef_, 0.2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("even", "class_weight='even' is not allowed: it is None, 'balanced' or a dictionary"),
        ({"rare": -1.0}, "class_weight gives 'rare' the weight -1.0"),
        ({"seldom": 1.0}, "class_weight names 'seldom', which is not among the classes"),
    ],
)
def test_weights_that_mean_nothing_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        fitted(class_weight=given).fit(*drawn(50))


def test_parts_of_the_rows_cannot_be_balanced():
    with pytest.raises(ValueError, match="class_weight='balanced' is not known to partial_fit"):
        fitted(class_weight="balanced").partial_fit(*drawn(50), classes=["rare", "usual"])
