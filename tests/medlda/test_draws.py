"""Which draws of a chain are kept."""

import numpy as np
import pytest

from bayesmargin.models.medlda.learners import Learner
from bayesmargin.models.medlda.posterior import Draw, TopicPosterior


class Counter(Learner):
    """A chain whose draws are the numbers of its steps."""

    moves = ()

    def _read(self, chain):
        self.taken += 1

    def begin(self, rng):
        return self

    def draw(self, chain):
        return Draw(np.full((1, 8), self.taken), np.full((1, 1), self.taken))


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
    learner = Counter(None, TopicPosterior(1), n_draws)
    chain = learner.gibbs(np.random.default_rng(0), length)
    chain.run(length)
    learner.posterior.take(chain.draws)
    assert [int(coef[0, 0]) for coef in learner.posterior.coef] == expected
    assert len(learner.posterior.topics) == len(expected)
