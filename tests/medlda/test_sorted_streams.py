"""Streams that come class by class are told so; mixed ones are not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.errors import ConvergenceWarning


def draw_documents(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    own = np.arange(24) % n_classes == np.arange(n_classes)[:, None]
    return sp.csr_matrix(rng.poisson(0.1 + own[y])), y


def stream(X, y, parts, n_classes, **settings):
    model = MedLDAClassifier(n_topics=4, n_chains=1, random_state=0, **settings)
    for part in parts:
        model.partial_fit(X[part], y[part], classes=range(n_classes))
    return model


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["ssgrld", "pa"])
def test_parts_of_one_class_each_are_a_warning(n_classes, method):
    X, y = draw_documents(250 * n_classes, n_classes, 1)
    parts = [np.flatnonzero(y == c) for c in range(n_classes)]
    with pytest.warns(ConvergenceWarning, match="are of one class, and earlier ones were of other"):
        stream(X, y, parts, n_classes, sampler=method)


def test_mixed_parts_and_small_ones_are_none():
    X, y = draw_documents(900, 3, 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        stream(X, y, np.array_split(np.arange(900), 4), 3)
        order = np.argsort(np.arange(900) % 6 // 2 * 1000 + y, kind="stable")
        stream(X, y, np.array_split(order, 30), 3)
        first = np.flatnonzero(y == 0)[:220]
        stream(X, y, [first, first], 3)  # other classes may come yet
    assert [str(one.message) for one in said] == []
