"""Token lists: read once, and settings that make no sense."""

import numpy as np
import pytest

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda import TokenCounter


def test_token_lists_that_can_be_read_only_once():
    """The vocabulary takes one reading and the counts another: nothing had been counted."""
    lists = [["moon", "tide", "moon"], ["nova"]]
    expected = TokenCounter().fit_transform(lists).toarray()
    np.testing.assert_array_equal(TokenCounter().fit_transform(iter(lists)).toarray(), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_documents": 3}, "none is in min_documents=3 documents, 2 at most"),
        ({"min_documents": 0}, "min_documents=0 is not allowed"),
        ({"n_features": 0}, "n_features=0 is not allowed"),
        ({"n_features": 2.5}, r"n_features=2\.5 is not allowed"),
    ],
)
def test_settings_of_token_lists_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        TokenCounter(**settings).fit([["moon", "tide"], ["moon"]])
    if "n_features" in settings:
        with pytest.raises(ValueError, match=message):
            TokenCounter(**settings).transform([["moon"]])


@pytest.mark.parametrize("settings", [{}, {"n_features": 8}])
@pytest.mark.parametrize("missing", [None, float("nan"), 3])
def test_a_missing_document_is_told(settings, missing):
    with pytest.raises(ValueError, match=rf"document 1 .* is {missing} and no list of tokens"):
        TokenCounter(**settings).fit(lists := [["moon"], missing]).transform(lists)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([None, "the moon"], r"holds text: put CountVectorizer\(\)"),
        (["", "the moon"], r"holds text: put CountVectorizer\(\)"),
        ([[], ["moon"]], r"holds lists of tokens: put TokenCounter\(\)"),
        ([None, ("moon", "tide")], r"holds lists of tokens: put TokenCounter\(\)"),
    ],
)
def test_text_is_known_by_its_first_words(X, message):
    with pytest.raises(ValueError, match=message):
        MedLDAClassifier(2).fit(X, [0, 1])
    with pytest.raises(ValueError, match=message):
        MedLDAClassifier(2).partial_fit(X, [0, 1], classes=[0, 1])
