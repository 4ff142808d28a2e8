"""Pictures: names in every form, and forecasts that cannot be drawn are refused in words."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from bayesmargin import BayesianLinearSVC, DPMNLClassifier
from bayesmargin.plots import plot_posterior, plot_reliability, plot_risk

IRIS = load_iris()


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BayesianLinearSVC(n_draws=60, random_state=0).fit(IRIS.data, IRIS.target)


def labels_of(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize("length", [8, 38, 200])
@pytest.mark.parametrize("two", [True, False])
def test_all_words_are_on_the_picture(model, two, length):
    """The label of the weights had ended in the middle of a word, and long names began there."""
    classes = [f"{'c' * length}{i}" for i in range(3)]
    keep = IRIS.target < 2 if two else IRIS.target < 3
    names = [f"{'n' * length}{i}" for i in range(4)]
    X = pd.DataFrame(IRIS.data[keep], columns=names)
    y = np.array(classes if two else ["a", "b", "c"])[IRIS.target[keep]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = BayesianLinearSVC(n_chains=1, n_draws=20, random_state=0).fit(X, y)
    axes = plot_posterior(fitted)
    axes.figure.draw_without_rendering()
    page = axes.figure.bbox
    for text in (axes.xaxis.label, *axes.get_yticklabels()):
        box = text.get_window_extent()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text.get_text()
    assert len(set(labels_of(axes))) == len(labels_of(axes))


@pytest.mark.parametrize("form", [np.array, list, pd.Index])
def test_names_of_weights_in_every_form(model, form):
    shown = labels_of(plot_posterior(model.posterior_, names=form(IRIS.feature_names)))
    assert len(shown) == 12
    assert all(any(name in label for name in IRIS.feature_names) for label in shown)


def test_the_model_stands_for_its_posterior(model):
    assert labels_of(plot_posterior(model)) == labels_of(plot_posterior(model.posterior_))
    with pytest.raises(TypeError, match="DPMNLClassifier"):
        plot_posterior(DPMNLClassifier())


def test_a_model_that_is_not_fitted_is_called_so():
    with pytest.raises(NotFittedError):
        plot_posterior(BayesianLinearSVC())


def test_weights_of_two_classes_say_for_which_they_speak(model):
    words = np.where(IRIS.target[:100] == 1, "versicolor", "setosa")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two = BayesianLinearSVC(n_draws=60, random_state=0).fit(IRIS.data[:100], words)
    axes = plot_posterior(two, strongest=3)
    assert axes.get_xlabel().startswith("weight for class versicolor")
    low, high = axes.get_ylim()
    assert low <= -0.5  # the intervals at either end stay clear of the frame
    assert high >= 2.5
    assert plot_posterior(model).get_xlabel().startswith("weight (")


def test_weights_of_several_classes_are_shown_less_what_these_share(model):
    """What all classes share is the prior's: it made intervals wider and changed their order."""
    axes = plot_posterior(model)
    draws = model.posterior_.flat("coef")
    shown = (draws - draws.mean(axis=1, keepdims=True)).reshape(len(draws), -1)
    names = [f"{k}: {j}" for k in range(3) for j in range(4)]
    order = [names.index(label) for label in labels_of(axes)]
    np.testing.assert_allclose(axes.lines[-1].get_xdata(), np.median(shown, axis=0)[order])
    wide, _ = (lines.get_segments() for lines in axes.collections)
    bounds = np.array([line[:, 0] for line in wide]).T
    np.testing.assert_allclose(bounds, np.quantile(shown[:, order], [0.05, 0.95], axis=0))
    assert "less the mean of the classes" in axes.get_xlabel()


def test_weights_of_one_class_against_the_rest_stay_as_they_are():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = BayesianLinearSVC(multi_class="ovr", n_draws=60, random_state=0)
        apart.fit(IRIS.data, IRIS.target)
    axes = plot_posterior(apart, "intercept")
    order = [int(label) for label in labels_of(axes)]
    medians = np.median(apart.posterior_.flat("intercept"), axis=0)[order]
    np.testing.assert_allclose(axes.lines[-1].get_xdata(), medians)
    assert "less" not in axes.get_xlabel()


def test_too_few_names_are_refused(model):
    with pytest.raises(ValueError, match="names holds 2 names, but 4 are needed"):
        plot_posterior(model, names=["a", "b"])
    with pytest.raises(ValueError, match="names='abcd' is not allowed"):
        plot_posterior(model, names="abcd")


def curve_of(axes):
    return axes.containers[0].lines[0].get_xydata()


def test_reliability_of_labels_of_any_kind():
    rng = np.random.default_rng(0)
    chance = rng.random(200)
    y = (rng.random(200) < chance).astype(int)
    usual = curve_of(plot_reliability(y, chance))
    assert usual.shape == (10, 2)
    for labels, one in ((2 * y - 1, 1), (np.where(y, "yes", "no"), "yes"), (y > 0, None)):
        found = plot_reliability(labels, chance, pos_label=one)
        np.testing.assert_array_equal(curve_of(found), usual)


def test_fewer_rows_than_bins():
    assert curve_of(plot_reliability([0, 1, 1], [0.2, 0.5, 0.9])).shape == (3, 2)


@pytest.mark.parametrize(
    ("y", "chance", "message"),
    [
        ([0, 1], [[0.2, 0.8], [0.5, 0.5]], r"predict_proba\(X\)\[:, 1\]"),
        ([-1, 1], [0.2, 0.8], r"labels \[-1, 1\].*pos_label"),
        (["a", "b"], [0.2, 0.8], "pos_label"),
        ([0, 1, 1], [0.2, 0.8], r"\(3,\) and probability \(2,\)"),
        ([], [], "at least one row"),
        ([0, 1], [0.2, 1.5], "holds 1.5"),
        ([0, 1], [0.2, np.nan], "holds nan"),
    ],
)
def test_forecasts_that_cannot_be_drawn(y, chance, message):
    with pytest.raises(ValueError, match=message):
        plot_reliability(y, chance)
    with pytest.raises(ValueError, match="pos_label='c'"):
        plot_reliability(["a", "b"], [0.1, 0.2], pos_label="c")
    with pytest.raises(ValueError, match="bins=0"):
        plot_reliability([0, 1], [0.1, 0.2], bins=0)


def test_intercepts_carry_the_names_of_their_classes(model):
    names = ["setosa", "versicolor", "virginica"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named = BayesianLinearSVC(n_draws=60, random_state=0).fit(
            pd.DataFrame(IRIS.data, columns=IRIS.feature_names), np.array(names)[IRIS.target]
        )
        two = BayesianLinearSVC(n_draws=60, random_state=0).fit(IRIS.data[:100], IRIS.target[:100])
    axes = plot_posterior(named, "intercept")
    assert sorted(labels_of(axes)) == names
    order = [names.index(label) for label in labels_of(axes)]
    draws = named.posterior_.flat("intercept")
    medians = np.median(draws - draws.mean(axis=1, keepdims=True), axis=0)[order]
    np.testing.assert_allclose(axes.lines[-1].get_xdata(), medians)
    assert labels_of(plot_posterior(two, "intercept")) == ["intercept"]


@pytest.mark.parametrize("strongest", [0, -1, 2.5, "all"])
def test_numbers_of_weights_that_cannot_be_shown(model, strongest):
    with pytest.raises(ValueError, match="strongest="):
        plot_posterior(model, strongest=strongest)


def test_the_picture_of_the_risk_starts_with_the_most_certain_rows():
    chance = np.array([0.95, 0.9, 0.2, 0.45])
    table = np.column_stack([1.0 - chance, chance])
    axes = plot_risk(["b", "b", "a", "b"], table)
    x, y = axes.lines[0].get_data()
    np.testing.assert_allclose(x, [0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(y, [0.0, 0.0, 0.0, 0.25])
    with pytest.raises(ValueError, match="not among the classes"):
        plot_risk(["c", "b", "a", "b"], table, classes=["a", "b"])
