"""Fewer topics than classes: classes that share one are hardly told apart, and users are told."""

import warnings

import numpy as np
import pytest

from bayesmargin import MedLDAClassifier
from bayesmargin.errors import CapacityWarning

rng = np.random.default_rng(0)
y = np.repeat(np.arange(4), 40)
X = rng.poisson(0.2 + 3.0 * np.repeat(np.eye(4), 3, axis=1)[y])


def small(sampler="ssgrld", **settings):
    if sampler != "gibbs":  # which has no minibatches
        settings["sampler__batch_size"] = 40
    return MedLDAClassifier(
        n_chains=1, sampler=sampler, sampler__n_passes=30, random_state=0, **settings
    )


@pytest.mark.parametrize("method", ["ssgrld", "gibbs", "pa"])
def test_fewer_topics_than_classes_bring_a_warning(method):
    said = r"n_topics=3 are fewer topics than the 4 classes.*set n_topics=4 or more"
    with pytest.warns(CapacityWarning, match=said) as caught:
        few = small(n_topics=3, sampler=method).fit(X, y)
    assert [one.filename for one in caught] == [__file__]
    assert small(n_topics=4, sampler=method).fit(X, y).score(X, y) > few.score(X, y) + 0.15


def test_a_stream_is_told_once():
    model = small(n_topics=2)
    with pytest.warns(CapacityWarning, match="n_topics=2") as caught:
        model.partial_fit(X, y, classes=range(5))
    assert [one.filename for one in caught] == [__file__]
    model.partial_fit(X, y)


def test_topics_of_its_own_for_every_class_and_label_sets_are_no_reason():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        small(n_topics=2, multi_class="ovr").fit(X, y)
        small(n_topics=2).fit(X, np.eye(4, dtype=int)[y])
        small(n_topics=2).fit(X, y // 2)
    assert [one.message for one in caught] == []
