"""What a chain says about rows that it has not seen, without another fit.

At its end a chain has a partition and experts of all rows. A chain of most of the rows that starts
there has little left to find: experts forget rows that are gone in a few sweeps. So each fold of
the rows in turn is left out of a short chain, whose second half predicts it. Where there are many
rows, some are enough to learn two numbers from, and the others are never left out.
"""

import copy
from threading import Event
from typing import Any

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.models.infinite_svc.chain import Chain, start_chain
from bayesmargin.models.infinite_svc.prediction import predict_draws, take_draw
from bayesmargin.models.infinite_svc.state import Rows
from bayesmargin.models.mixtures.classifier import kept_sweeps

FOLDS = 5
ENOUGH, MOST = 500, 2000  # rows to be left out in all folds together, and in one of them


def make_folds(labels: IntArray) -> IntArray:
    """Number of the fold in which each row is left out, -1: in none. Classes are shared evenly.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.held_out import make_folds
    >>> make_folds(np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]))
    array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    """
    number = len(labels)
    size = min(-(-number // FOLDS), MOST)
    folds = min(FOLDS, number, -(-ENOUGH // size))
    chosen = np.linspace(0, number - 1, min(number, folds * size)).round().astype(np.int64)
    result = np.full(number, -1)
    result[np.argsort(labels, kind="stable")[chosen]] = np.arange(len(chosen)) % folds
    return result


def short_sweeps(sweeps: int) -> int:
    """Sweeps of a chain that leaves a fold out, where the chain of all rows has made so many.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.held_out import short_sweeps
    >>> short_sweeps(2000), short_sweeps(100), short_sweeps(40), short_sweeps(1)
    (100, 20, 10, 2)
    """
    return max(2, sweeps // 20, min(20, sweeps // 4))


def predict_held_out(
    chain: Chain, folds: IntArray, n_draws: int, classes: int, stop: Event | None = None
) -> FloatArray | None:
    """Probabilities of the rows in folds, in their order, by the rule "probability".

    ``chain`` has come to its end and is not changed, not even its generator, for a checkpoint may
    still be written. None when ``stop`` is set.
    """
    rng = copy.deepcopy(chain.rng)
    result = np.empty((len(folds), classes))
    rows, hinge = chain.rows, chain.settings.hinge
    for fold in range(int(folds.max()) + 1):
        if stop is not None and stop.is_set():
            return None
        absent = folds == fold
        short = _start_without(chain, absent, classes, rng)
        sweeps, draws = short_sweeps(chain.sweeps), []
        keep = kept_sweeps(sweeps, sweeps // 2, n_draws)
        for sweep in range(sweeps):
            short.sweep()
            if sweep in keep:
                draws.append(take_draw(short.components, short.empty, short.concentration))
        result[absent] = predict_draws(
            "probability", draws, chain.base, hinge, rows.covariates[absent], rows.design[absent],
            classes, rng, 1,
        )  # fmt: skip
    return result[folds >= 0]


def _start_without(
    chain: Chain, absent: BoolArray, classes: int, rng: np.random.Generator
) -> Chain:
    """A chain of the other rows, with the partition and the experts of the one given."""
    others: Any = (p[~absent] if isinstance(p, np.ndarray) else p for p in chain.rows)
    slots = chain.assignment.slot[~absent]
    short = start_chain(
        rng, Rows(*others), chain.base, chain.settings, slots, classes, chain.concentration
    )
    short.pool = chain.pool
    used = np.unique(slots)
    short.components.weights[: len(used)] = chain.components.weights[used]
    short.components.sharpness[:] = chain.components.sharpness
    short.components.noted[:] = chain.components.noted
    short.warm_weights()
    return short
