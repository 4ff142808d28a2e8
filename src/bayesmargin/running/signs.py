"""What the trace of chains says of steps that are too long for them."""

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import collected
from bayesmargin.running.ensemble import Ensemble

MAX_SHIFT = 0.4  # of the thermostat, in units of its diffusion: beyond it the variance suffers
THROWN = 6.0  # standard deviations beyond the root of its coordinates of a length of the momentum


def may_shrink(ensemble: Ensemble) -> bool:
    """Whether the step is ours to change."""
    plan = ensemble.plan
    return plan.adaptive and ensemble.remedies.can_restart and not plan.step_is_given


def shift(ensemble: Ensemble, trace: FloatArray) -> float:
    """How far the thermostat ran above its setting in the second half, relatively.

    It is 0 where there is none, or where the step is not ours to change.
    """
    diffusion = ensemble.account.diffusion
    if diffusion is None or not may_shrink(ensemble):
        return 0.0
    return float(trace[:, trace.shape[1] // 2 :, 1].mean()) / diffusion - 1.0


def doubtfully_hot(ensemble: Ensemble) -> bool:
    """Whether the thermostat ran too hot in a warm-up that is too short to tell it from chance.

    The friction of a sound chain on ``n`` coordinates has variance ``1/n`` about its setting, and
    about every third mark of a warm-up is a new one: of one coordinate, a tenth of all warm-ups
    ended above the bound by chance.
    """
    if not all(chain.draws for chain in ensemble.chains):
        return False
    positions, trace = collected(ensemble.chains)
    hot, diffusion = shift(ensemble, trace), ensemble.account.diffusion
    if diffusion is None or not hot > MAX_SHIFT:
        return False
    marks = positions.shape[0] * (positions.shape[1] - positions.shape[1] // 2)
    chance = np.sqrt(3.0 / (marks * positions.shape[-1])) / diffusion
    return bool(hot < MAX_SHIFT + 4.0 * chance)


def thrown(ensemble: Ensemble, trace: FloatArray) -> bool:
    """Whether a batch kicked a momentum to a length that chance never gives it.

    Far from the anchor many rows change state at once, and a batch of few of them can stand for
    hundreds. The thermostat answers with a friction in which the chain stands still, for as many
    draws as it takes to wear off: chains still agree, and no other check sees it.
    """
    if ensemble.account.diffusion is None or ensemble.view.kept is not None:
        return False
    size = ensemble.chains[0].draws[0].shape[1]
    return bool(trace[..., 0].max() > (1.0 + THROWN / np.sqrt(size)) ** 2)
