"""The short cut of the sweep: a row is only kept unseen when all weights would keep it too."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import jit
from bayesmargin.models.infinite_svc.assignments import _pick
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.gaussian import surely_below
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weighing import log_weights, make_work, stays, weigh_own
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation

HINGE = Hinge(2.0, 1.0)


def _chain(spread, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + spread * rng.integers(0, 3, (150, 1))
    labels = rng.integers(0, classes, 150)
    base = make_base(np.zeros(2), 0.1, 4.0, 0.3 * np.eye(2), 1.0, 150)
    rows = make_rows(X, np.column_stack([X, np.ones(150)]), labels, base, HINGE)
    settings = Settings(HINGE, Augmentation(1), proposals=1)
    chain = start_chain(rng, rows, base, settings, np.arange(150) % 4, classes, 1.0)
    for _ in range(5):
        chain.sweep()
    return chain


@jit
def _count_choices(mixture, work):
    """How often the short cut keeps a row, all weights move it, and both happen at once."""
    rows = mixture.rows
    kept = moved = both = 0
    for d in range(rows.labels.shape[0]):
        for twentieth in range(1, 21):
            chance = twentieth / 20
            work.fresh_weight[0] = rows.log_base[d] + rows.log_evidence[d]
            found = weigh_own(d, mixture, work)
            own = work.log_weight[0]
            if found == 0:
                continue
            short = stays(d, chance, own, mixture, work)
            best = max(own, work.fresh_weight[0])
            found, best = log_weights(d, best, found, mixture, work)
            work.log_weight[found] = work.fresh_weight[0]
            chosen = _pick(chance, work.log_weight, found + 1, best)
            kept += short
            moved += chosen != 0
            both += short and chosen != 0
    return kept, moved, both


@pytest.mark.parametrize("spread", [0.5, 4.0])
@pytest.mark.parametrize("classes", [2, 6])
def test_a_row_kept_by_the_short_cut_is_kept_by_all_weights(spread, classes):
    chain = _chain(spread, classes)
    kept, moved, both = _count_choices(chain.mixture, make_work(chain.components, 1, chain.empty))
    assert both == 0
    assert kept > 1000
    assert moved > 100


def test_what_is_surely_below_is_below():
    rng = np.random.default_rng(1)
    height, floor = rng.normal(0, 20, 500), rng.normal(-20, 20, 500)
    square, count = 100.0 * rng.random(500) ** 3, rng.integers(1, 8, 500)
    said = np.array([_says_below(*case) for case in zip(floor, height, count, square, strict=True)])
    power = 0.5 * (25.0 + count + 1)
    share = height - power * np.log1p((0.4 + count) / (1.4 + count) * square)
    np.testing.assert_array_equal(said, share < floor)
    assert 100 < said.sum() < 400


@jit
def _says_below(floor, height, count, square):
    return surely_below(floor, height, count, 0.4, 25.0, square)
