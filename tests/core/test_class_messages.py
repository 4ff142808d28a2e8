"""Errors about classes show the labels as users wrote them, whatever NumPy's types are called."""

import re

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier

X = np.arange(12).reshape(6, 2) % 5
Y = np.array(["sun", "moon"] * 3)
ESTIMATORS = [BayesianLinearSVC, MedLDAClassifier, InfiniteSVC, DPMNLClassifier]


def complains(*parts):
    """Expect an error with these parts in turn, and without the names of NumPy's types."""
    wanted = ".*".join(re.escape(part) for part in parts)
    return pytest.raises(ValueError, match=rf"^(?!.*(?:np\.|array\(|dtype)).*{wanted}")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("label", ["sun", 3, 2.0])
def test_a_single_class_is_shown_plainly(estimator, label):
    with complains("class", repr(label)):
        estimator().fit(X, np.full(6, label))


@pytest.mark.parametrize("estimator", [BayesianLinearSVC, MedLDAClassifier])
def test_partial_fit_shows_classes_plainly(estimator):
    with complains("'sun'", "['mars', 'moon']"):
        estimator().partial_fit(X, Y, classes=["moon", "mars"])
    with complains("class", "'moon'"):
        estimator().partial_fit(X, Y, classes=["moon"])


def test_other_classes_in_a_later_partial_fit_are_shown_plainly():
    model = MedLDAClassifier(n_topics=2, n_chains=1, random_state=0)
    model.partial_fit(X, Y, classes=["moon", "sun"])
    with complains("['mars', 'moon']", "['moon', 'sun']"):
        model.partial_fit(X, Y, classes=["moon", "mars"])
