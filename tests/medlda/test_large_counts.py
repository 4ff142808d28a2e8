"""Numbers that are no word counts: they had been sampled for hours, or ended in a bare error."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from bayesmargin import MedLDAClassifier
from bayesmargin.errors import ScalingWarning
from bayesmargin.models.medlda.training import Training


class BegunError(Exception):
    """The fit has come to its first minibatch."""


@pytest.fixture
def begin(monkeypatch):
    """Fit up to the first minibatch."""

    def stop(*args):
        raise BegunError

    monkeypatch.setattr(Training, "run", stop)

    def fit(X, y):
        with pytest.raises(BegunError):
            MedLDAClassifier(n_topics=2, random_state=0).fit(X, y)

    return fit


@pytest.mark.parametrize("sparse", [False, True])
def test_measurements_bring_a_warning_before_the_first_word_is_sampled(begin, sparse):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(20_000, 40_000, (30, 3)), columns=["age", "income", "rent"])
    X.loc[7, "income"] = 50_000
    if sparse:
        X = sp.coo_array(X)
    total = f"{int(X.sum() if sparse else X.to_numpy().sum()):,}"
    name = "word 1" if sparse else "word 'income'"
    with pytest.warns(ScalingWarning, match=f"{total} words.*{name} is 50,000 in document 7") as w:
        begin(X, np.arange(30) % 2)
    assert w[0].filename == __file__


def test_long_documents_and_few_large_counts_bring_none(begin):
    rng = np.random.default_rng(1)
    long = rng.poisson(60.0, (30, 1_000))  # 60,000 words each
    few = rng.integers(20_000, 40_000, (4, 5))  # fewer than a million words in all
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for X in (long, few):
            begin(X, np.arange(len(X)) % 2)
    assert not said


def test_more_words_than_memory_are_told_in_words():
    """NumPy's error named an array that nobody had passed."""
    X = np.full((200, 50), 2_000_000_000)
    model = MedLDAClassifier(n_topics=2)
    expected = r"X holds 20,000,000,000,000 words.*fewer documents at a time"
    with pytest.warns(ScalingWarning), pytest.raises(MemoryError, match=expected):
        model.fit(X, np.arange(200) % 2)
    with pytest.raises(NotFittedError):
        model.predict(X)
    small = np.random.default_rng(2).poisson(2.0, (20, 50))
    model.fit(small, np.arange(20) % 2)
    with pytest.raises(MemoryError, match=expected):
        model.predict(X)
