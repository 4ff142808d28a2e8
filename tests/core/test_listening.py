"""Whoever listens hears the means that the search for an anchor comes by."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.binary import LARGER, PARTS, part_sizes
from bayesmargin.foundation.observers import listening
from bayesmargin.running.progress import Silence, watching
from bayesmargin.validation.problems import five_rows


class Heard(Silence):
    shown = True

    def __init__(self):
        self.stages = []

    def update(self, stage, done, total, detail):
        self.stages.append(stage)


def test_last_mean_heard_is_that_of_the_anchor():
    heard = []
    with listening(heard.append):
        anchor = fit_anchor(five_rows(), np.random.default_rng(0))
    assert np.array_equal(heard[-1], anchor.mean)
    count = len(heard)
    fit_anchor(five_rows(), np.random.default_rng(0))
    assert len(heard) == count


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["dense", "wide", "classes"])
def test_display_shows_the_preparation_before_the_draws(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (X[:, 0] > 0).astype(int) + (kind == "classes") * (X[:, 1] > 1)
    if kind == "wide":
        X = sparse.random_array((60, 1500), density=0.02, rng=rng, format="csr")
        y = y[:60]
    heard = Heard()
    with watching(heard):
        BayesianLinearSVC(n_draws=40, n_chains=2, random_state=0).fit(X, y)
    assert heard.stages[0] == "preparing"
    assert "sampling" in heard.stages


def test_parts_grow_and_are_small_beside_the_whole():
    assert part_sizes(LARGER * PARTS[0] - 1, 10) == []
    assert part_sizes(10**7, 10) == list(PARTS)
    wide = part_sizes(10**7, 10_000)
    assert wide == [200_000]
