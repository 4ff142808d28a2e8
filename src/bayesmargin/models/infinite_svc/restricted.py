"""Restricted Gibbs scans: how the members of one component are proposed to fall into two sides."""

import math

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.infinite_svc.gaussian import (
    change_member,
    fill_features,
    log_predictive,
    log_predictive_without,
    reset_to_prior,
)
from bayesmargin.models.infinite_svc.state import Base, Components, Rows
from bayesmargin.types import IntArray


@jit
def _choose_side(
    rng: np.random.Generator, log_odds: float, forced: int, log_probability: float
) -> tuple[int, float]:
    """Side 1 with the given log odds, or the forced side; and the log probability so far."""
    side = forced
    if side < 0:
        side = 1 if rng.random() * (1.0 + math.exp(-min(max(log_odds, -700.0), 700.0))) < 1.0 else 0
    signed = log_odds if side == 1 else -log_odds
    # log of the logistic function, without overflow
    term = -math.log1p(math.exp(-signed)) if signed > 0.0 else signed - math.log1p(math.exp(signed))
    return side, log_probability + term


@jit
def allocate(
    rng: np.random.Generator,
    first: int,
    second: int,
    others: IntArray,
    rows: Rows,
    sides: Components,
    base: Base,
    side_of: IntArray,
) -> None:
    """Launch partition: the two anchors, then the others one by one in the order given."""
    features = np.empty(sides.form.shape[1])
    for side in range(2):
        anchor = first if side == 0 else second
        reset_to_prior(sides, base, side)
        fill_features(rows.covariates[anchor], features)
        change_member(sides, base, side, rows.covariates[anchor], features, 1)
    for i in range(others.shape[0]):
        row = rows.covariates[others[i]]
        fill_features(row, features)
        log_odds = (
            math.log(sides.count[1])
            + log_predictive(sides, base, 1, features)
            - math.log(sides.count[0])
            - log_predictive(sides, base, 0, features)
        )
        side, _ = _choose_side(rng, log_odds, -1, 0.0)
        side_of[i] = side
        change_member(sides, base, side, row, features, 1)


@jit
def scan(
    rng: np.random.Generator,
    others: IntArray,
    rows: Rows,
    sides: Components,
    base: Base,
    side_of: IntArray,
    forced: IntArray,
) -> float:
    """One Gibbs scan over the others restricted to the two sides; return its log probability.

    A non-empty ``forced`` dictates the outcome, and only the probability is computed.
    """
    features = np.empty(sides.form.shape[1])
    log_probability = 0.0
    for i in range(others.shape[0]):
        row = rows.covariates[others[i]]
        fill_features(row, features)
        own = side_of[i]
        rest = 1 - own
        log_odds = (
            math.log(sides.count[rest])
            + log_predictive(sides, base, rest, features)
            - math.log(sides.count[own] - 1.0)
            - log_predictive_without(sides, base, own, features)
        )
        if own == 1:
            log_odds = -log_odds
        wanted = forced[i] if forced.shape[0] > 0 else -1
        side, log_probability = _choose_side(rng, log_odds, wanted, log_probability)
        if side != own:
            change_member(sides, base, own, row, features, -1)
            change_member(sides, base, side, row, features, 1)
            side_of[i] = side
    return log_probability
