"""From the chains of a vote to draws by name, probabilities of labels, and intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.posterior import Posterior
from bayesmargin.running.gibbs import Gibbs

DIMS = {
    "weight": ("worker",),
    "accuracy": ("worker",),
    "confusion": ("worker", "class", "label"),
    "share": ("class",),
}


def probabilities(chains: Sequence[Gibbs]) -> FloatArray:
    """Mean of the probabilities that labels were drawn with, over all sweeps after burn-in."""
    states: list[Any] = [chain.state for chain in chains]
    value: FloatArray = sum(state.chances for state in states)
    return value / sum(state.counted for state in states)


def posterior_of(
    chains: Sequence[Gibbs], workers: Any, classes: Any, attrs: dict[str, Any]
) -> Posterior:
    """Draws of weights, and of matrices and class shares where there are any."""
    number = min(len(chain.draws) for chain in chains)
    kept = [chain.draws[-number:] for chain in chains]
    found = {"weight": np.array([[draw.weight for draw in part] for part in kept])}
    if kept[0][0].shares.size:
        confusion = np.exp([[draw.spoken for draw in part] for part in kept])
        share = np.exp([[draw.shares for draw in part] for part in kept])
        right = np.einsum("abjkk,abk->abj", confusion, share)
        found |= {"accuracy": right, "confusion": confusion, "share": share}
    names = classes.tolist()
    coords = {"worker": workers.tolist(), "class": names, "label": names}
    return Posterior(found, {name: DIMS[name] for name in found}, coords, attrs)


def logs_of(posterior: Posterior) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, and logs of matrices and shares, of all draws; empty where there are none."""
    weight = posterior.flat("weight")
    if "confusion" not in posterior:
        return weight, np.zeros((len(weight), 0, 0, 0)), np.zeros((len(weight), 0))
    tiny = np.finfo(float).tiny
    spoken, share = (
        np.log(np.maximum(posterior.flat(name), tiny)) for name in ("confusion", "share")
    )
    return weight, spoken, share
