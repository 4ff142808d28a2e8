"""How the members of one component are proposed to fall into two sides."""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.models.infinite_svc.features import fill_features
from bayesmargin.models.infinite_svc.gaussian import log_share_of, refactor
from bayesmargin.models.infinite_svc.proposal_rows import Proposal, keep_features, line_of
from bayesmargin.models.infinite_svc.state import Base, Rows

_LAUNCH_ROWS = 1000


@inner_borrowing_jit
def fill_sides(proposal: Proposal, rows: Rows, base: Base, stride: int) -> None:
    """Statistics of the two sides: an anchor each, and the others as ``side_of`` says.

    Of the others every ``stride``-th counts.
    """
    first, second, others, side_of, sides, features = proposal
    for side in range(2):
        row = rows.covariates[first if side == 0 else second]
        fill_features(base, row, sides.moment[side])
        sides.population[side] = 1
    for i in range(0, others.shape[0], stride):
        line, side = line_of(proposal, rows, i, base), side_of[i]
        for position in range(features.shape[1]):
            sides.moment[side, position] += features[line, position]
        sides.population[side] += 1
    for side in range(2):
        refactor(sides, base, side)


@inner_borrowing_jit
def _log_odds(proposal: Proposal, rows: Rows, base: Base, i: int) -> float:
    """Log odds of side 1 for the i-th of the others, by size and predictive density."""
    sides, line = proposal.sides, line_of(proposal, rows, i, base)
    odds = 0.0
    for side in range(2):
        odds = log_share_of(sides, base, side, proposal.features[line]) - odds
    return odds


@inner_borrowing_jit
def launch(proposal: Proposal, rows: Rows, base: Base, rounds: int) -> None:
    """Deterministic start of a split: nearer anchor, then rounds of hard assignment.

    Of many rows an even part, at least :data:`_LAUNCH_ROWS`, shapes the two sides.
    """
    others, side_of = proposal.others, proposal.side_of
    left, right = rows.covariates[proposal.first], rows.covariates[proposal.second]
    stride = max(1, others.shape[0] // _LAUNCH_ROWS)
    keep_features(proposal, rows, base)
    for i in range(0, others.shape[0], stride):
        row = rows.covariates[others[i]]
        gap = 0.0
        for j in range(row.shape[0]):
            gap += (row[j] - left[j]) ** 2 - (row[j] - right[j]) ** 2
        side_of[i] = 1 if gap > 0.0 else 0
    fill_sides(proposal, rows, base, stride)
    for _ in range(rounds):
        for i in range(0, others.shape[0], stride):
            side_of[i] = 1 if _log_odds(proposal, rows, base, i) > 0.0 else 0
        fill_sides(proposal, rows, base, stride)


@inner_borrowing_jit
def allocate(
    rng: np.random.Generator, proposal: Proposal, rows: Rows, base: Base, drawing: bool
) -> float:
    """Let every row fall on a side by the launch's Gaussians; return the log probability.

    With ``drawing`` the outcome is written into ``side_of``, otherwise it is read from there.
    """
    side_of = proposal.side_of
    log_probability = 0.0
    for i in range(side_of.shape[0]):
        odds = min(max(_log_odds(proposal, rows, base, i), -700.0), 700.0)
        if drawing:
            side_of[i] = 1 if rng.random() * (1.0 + math.exp(-odds)) < 1.0 else 0
        signed = odds if side_of[i] == 1 else -odds
        if signed > 0.0:
            log_probability -= math.log1p(math.exp(-signed))
        else:
            log_probability += signed - math.log1p(math.exp(signed))
    return log_probability
