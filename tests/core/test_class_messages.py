"""Errors about classes show the labels as users wrote them, whatever NumPy's types are called."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier

X = np.arange(12).reshape(6, 2) % 5
Y = np.array(["sun", "moon"] * 3)
ESTIMATORS = [BayesianLinearSVC, MedLDAClassifier, InfiniteSVC, DPMNLClassifier]


def complaint(call, *arguments, **settings):
    """The message of the error about classes that a call ends with."""
    with pytest.raises(ValueError, match="class") as caught:
        call(*arguments, **settings)
    return str(caught.value)


def names_numpy(text):
    return any(name in text for name in ("np.", "array(", "dtype"))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("label", ["sun", 3, 2.0])
def test_a_single_class_is_shown_plainly(estimator, label):
    text = complaint(estimator().fit, X, np.full(6, label))
    assert repr(label) in text
    assert not names_numpy(text)


@pytest.mark.parametrize("estimator", [BayesianLinearSVC, MedLDAClassifier])
def test_partial_fit_shows_classes_plainly(estimator):
    unknown = complaint(estimator().partial_fit, X, Y, classes=["moon", "mars"])
    assert unknown.index("'sun'") < unknown.index("['mars', 'moon']")
    assert not names_numpy(unknown)
    single = complaint(estimator().partial_fit, X, Y, classes=["moon"])
    assert "'moon'" in single
    assert not names_numpy(single)


def test_other_classes_in_a_later_partial_fit_are_shown_plainly():
    model = MedLDAClassifier(n_topics=2, n_chains=1, random_state=0)
    model.partial_fit(X, Y, classes=["moon", "sun"])
    text = complaint(model.partial_fit, X, Y, classes=["moon", "mars"])
    assert text.index("['mars', 'moon']") < text.index("['moon', 'sun']")
    assert not names_numpy(text)
