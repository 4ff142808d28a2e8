r"""Posterior predictive of dpMNL: :math:`\sum_t p_t(y, x) / \sum_t p_t(x)` over draws t.

Every draw includes a component that no row has joined yet, with weight :math:`\alpha/(n+\alpha)`
and its parameters integrated out (:mod:`bayesmargin.models.dpmnl.fresh`). Far from all training
rows it has all of the weight, and every class the same probability.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.chain import Chain
from bayesmargin.models.dpmnl.fresh import fresh_log_density
from bayesmargin.models.dpmnl.state import (
    NARROWEST,
    Experts,
    Hyper,
    empty_experts,
    fill_log_classes,
    log_density,
)
from bayesmargin.models.mixtures.components import Component


class Draw(NamedTuple):
    """One posterior draw: components and their log weights.

    The last entry is the component to come: ``base`` has its law, and the experts its centre. Draws
    of models saved by earlier versions have no ``base``, and one draw of such a component instead.
    """

    log_weight: FloatArray
    experts: Experts
    base: Hyper | None = None

    def components(self) -> list[Component]:
        """All but the one to come."""
        pairs = zip(self.experts.population, self.experts.coefficients, strict=True)
        return [Component(int(size), weights) for size, weights in pairs][:-1]


def take_draw(chain: Chain, columns: IntArray | None = None, features: int | None = None) -> Draw:
    """Copy of the components in use and of the base measure.

    ``columns`` are the numbers of those of ``features`` columns that the chain has seen; the others
    are zero, have one and the same law in all components, and so no say in predictions.
    """
    seen = chain.X.shape[1]
    features = seen if features is None else features
    columns = np.arange(seen) if columns is None else columns
    slots = chain.experts.order[: chain.experts.size[0]]
    number = len(slots)
    experts = empty_experts(number + 1, features, chain.experts.coefficients.shape[1])
    for name in ("population", "log_scale"):
        getattr(experts, name)[:number] = getattr(chain.experts, name)[slots]
    for name in ("mean", "log_variance"):
        getattr(experts, name)[:number, columns] = getattr(chain.experts, name)[slots]
    slopes = np.append(columns, features)  # the intercept follows the slopes
    experts.coefficients[:number, :, slopes] = chain.experts.coefficients[slots]
    # A column that was not seen: N(0, 1) in every component, and so it is in the one to come.
    unseen = (0.0, -np.inf, 0.0, -np.inf, 0.0)
    base = Hyper(*(np.full(features, value) for value in unseen))
    base = base._replace(
        log_concentration=chain.hyper.log_concentration.copy(),
        narrowest=np.full(features, NARROWEST),
    )
    for name in ("mean", "log_spread", "level", "log_level_spread", "narrowest"):
        getattr(base, name)[columns] = getattr(chain.hyper, name)
    experts.mean[number], experts.log_variance[number] = base.mean, base.level
    strength = math.exp(chain.hyper.log_concentration[0])
    weight = np.append(experts.population[:number].astype(float), strength)
    return Draw(np.log(weight) - math.log(weight.sum()), experts, base)


@jit
def _add_joint(
    log_weight: FloatArray, experts: Experts, X: FloatArray, log_joint: FloatArray
) -> None:
    """Log of p(y, x) for every row and class under some components, added into ``log_joint``."""
    classes = log_joint.shape[1]
    work = np.empty(classes)
    for d in range(X.shape[0]):
        for k in range(log_weight.shape[0]):
            share = log_weight[k] + log_density(experts, k, X[d])
            if share == -np.inf:
                continue
            fill_log_classes(experts.coefficients[k], X[d], work)
            for y in range(classes):
                value, old = share + work[y], log_joint[d, y]
                top, low = max(value, old), min(value, old)
                log_joint[d, y] = top + math.log1p(math.exp(low - top))


def _fresh_density(base: Hyper, X: FloatArray) -> FloatArray:
    """Log density of rows in a component of the base measure."""
    if base.narrowest is None:
        base = base._replace(narrowest=np.full(X.shape[1], NARROWEST))
    for part in (*base[:4], base.narrowest):
        if part.shape != (X.shape[1],):
            raise ValueError(f"the base measure of a draw does not fit rows of {X.shape[1]}")
    result = np.empty(len(X))
    fresh_log_density(base, X, result)
    return result


def predict_draws(draws: list[Draw], X: FloatArray, classes: int) -> FloatArray:
    """Class probabilities of the rows of ``X``; equal ones where all densities are zero."""
    log_joint = np.full((len(X), classes), -np.inf)
    for draw in draws:
        weight = draw.log_weight if draw.base is None else draw.log_weight[:-1]
        _add_joint(weight, draw.experts, X, log_joint)
        if draw.base is not None:
            fresh = draw.log_weight[-1] - math.log(classes) + _fresh_density(draw.base, X)
            np.logaddexp(log_joint, fresh[:, None], out=log_joint)
    highest = log_joint.max(axis=1, keepdims=True)
    log_joint = np.where(highest > -np.inf, log_joint - np.maximum(highest, -1e300), 0.0)
    joint = np.exp(log_joint)
    value: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return value
