"""What a fit of topics shows while it goes on."""

import numpy as np
import pytest

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda.posterior import TopicPosterior, weight_rhat
from bayesmargin.running.progress import Silence, watching


class Heard(Silence):
    shown = True

    def __init__(self):
        self.details = []

    def update(self, stage, done, total, detail):
        self.details.append(detail)


def chain(values):
    """A posterior whose weights have the given sizes, with topics numbered at random."""
    rng = np.random.default_rng(len(values))
    coef = [np.array([[value, 0.0, 0.0]])[:, rng.permutation(3)] for value in values]
    return [TopicPosterior(3, topics=[np.ones((2, 3))] * len(values), coef=coef)]


def test_rhat_does_not_see_the_numbering_of_topics():
    rng = np.random.default_rng(0)
    alike = [chain(rng.uniform(1.0, 2.0, 200)) for _ in range(2)]
    apart = [chain(rng.uniform(1.0, 2.0, 200)), chain(rng.uniform(3.0, 4.0, 200))]
    assert weight_rhat(alike) < 1.02
    assert weight_rhat(apart) > 1.5


@pytest.mark.parametrize("chains", [[chain([1.0] * 9)], [chain([1.0, 2.0]), chain([1.0, 2.0])]])
def test_rhat_needs_two_chains_and_some_draws(chains):
    assert np.isnan(weight_rhat(chains))


def test_display_shows_rhat_and_accuracy():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 120)
    counts = rng.poisson(rng.gamma(0.3, 1.0, (2, 30))[label])
    heard = Heard()
    with watching(heard, (counts, label)):
        MedLDAClassifier(n_topics=4, n_chains=2, sampler__n_passes=6, random_state=0).fit(
            counts, label
        )
    assert "R-hat" in heard.details[-1]
    assert "validation accuracy" in heard.details[-1]
