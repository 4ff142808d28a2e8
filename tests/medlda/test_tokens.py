"""Token lists: read once, and settings that make no sense."""

import numpy as np
import pytest

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
