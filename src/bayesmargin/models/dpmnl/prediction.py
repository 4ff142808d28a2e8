r"""Posterior predictive of dpMNL: :math:`\sum_t p_t(y, x) / \sum_t p_t(x)` over draws t.

Every draw includes one fresh component of the base measure with weight
:math:`\alpha/(n+\alpha)`.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.dpmnl.chain import Chain
from bayesmargin.models.dpmnl.state import (
    Experts,
    draw_base,
    empty_experts,
    fill_log_classes,
    log_density,
)
from bayesmargin.types import FloatArray


class Draw(NamedTuple):
    """One posterior draw: components and their log weights; the last is a fresh one."""

    log_weight: FloatArray
    experts: Experts


def take_draw(chain: Chain) -> Draw:
    """Copy of the components in use plus a draw from the base measure."""
    slots = chain.experts.order[: chain.experts.size[0]]
    number = len(slots)
    experts = empty_experts(number + 1, chain.X.shape[1], chain.experts.coefficients.shape[1])
    draw_base(chain.rng, chain.hyper, experts, number)
    for name in ("population", "mean", "log_variance", "coefficients", "log_scale"):
        getattr(experts, name)[:number] = getattr(chain.experts, name)[slots]
    strength = math.exp(chain.hyper.log_concentration[0])
    weight = np.append(experts.population[:number].astype(float), strength)
    return Draw(np.log(weight) - math.log(weight.sum()), experts)


@jit
def _fill_joint(draw: Draw, X: FloatArray, log_joint: FloatArray) -> None:
    """Log of p(y, x) for every row and class under one draw, added into ``log_joint``."""
    classes = log_joint.shape[1]
    work = np.empty(classes)
    for d in range(X.shape[0]):
        for k in range(draw.log_weight.shape[0]):
            share = draw.log_weight[k] + log_density(draw.experts, k, X[d])
            fill_log_classes(draw.experts.coefficients[k], X[d], work)
            for y in range(classes):
                value, old = share + work[y], log_joint[d, y]
                top = max(value, old)
                if top > -np.inf:
                    low = min(value, old)
                    log_joint[d, y] = top + math.log1p(math.exp(low - top))


def predict_draws(draws: list[Draw], X: FloatArray, classes: int) -> FloatArray:
    """Class probabilities of the rows of ``X``."""
    log_joint = np.full((len(X), classes), -np.inf)
    for draw in draws:
        _fill_joint(draw, X, log_joint)
    log_joint -= log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint)
    value: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return value
