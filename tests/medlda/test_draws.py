"""Which draws of a chain are kept."""

import numpy as np
import pytest

from bayesmargin.models.medlda.posterior import TopicPosterior


@pytest.mark.parametrize(
    ("length", "n_draws", "expected"),
    [
        (1, 10, [1]),
        (2, 10, [2]),
        (7, 10, [4, 5, 6, 7]),
        (10, 10, [6, 7, 8, 9, 10]),
        (150, 100, list(range(76, 151))),
        (60, 10, list(range(33, 61, 3))),
        (61, 3, [41, 51, 61]),
    ],
)
def test_draws_of_the_first_half_are_never_left(length, n_draws, expected):
    """More draws asked for than the second half has steps: those before it are burn-in."""
    posterior = TopicPosterior(1, length=length)
    for time in range(1, length + 1):
        posterior.keep(time, n_draws, lambda t=time: (np.full((1, 8), t), np.full((1, 1), t)))
    assert [int(coef[0, 0]) for coef in posterior.coef] == expected
    assert len(posterior.topics) == len(expected)
