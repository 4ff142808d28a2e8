"""The short cut of the sweep: a row is only kept unseen when all weights would keep it too."""

import numpy as np
import pytest

from bayesmargin.compiling import jit
from bayesmargin.models.infinite_svc.assignments import _pick
from bayesmargin.models.infinite_svc.chain import Settings, make_base, make_rows, start_chain
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weighing import log_weights, make_work, stays, weigh_own
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation

HINGE = Hinge(2.0, 1.0)


def _chain(spread):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + spread * rng.integers(0, 3, (150, 1))
    labels = rng.integers(0, 2, 150)
    base = make_base(np.zeros(2), 0.1, 4.0, 0.3 * np.eye(2), 1.0, 150)
    rows = make_rows(X, np.column_stack([X, np.ones(150)]), labels, base, HINGE)
    settings = Settings(HINGE, Augmentation(1), proposals=1)
    chain = start_chain(rng, rows, base, settings, np.arange(150) % 4, 2, 1.0)
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
def test_a_row_kept_by_the_short_cut_is_kept_by_all_weights(spread):
    chain = _chain(spread)
    kept, moved, both = _count_choices(chain.mixture, make_work(chain.components, 1))
    assert both == 0
    assert kept > 1000
    assert moved > 100
