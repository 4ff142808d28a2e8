"""What is told of every draw beside its weights: temperature and thermostat, or acceptance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.ensemble import Account


def statistics_of(
    account: Account, facts: Mapping[str, Any], trace: FloatArray, n_draws: int
) -> dict[str, FloatArray]:
    """Arrays (chain, draw) by name, of the draws that were kept.

    Parameters
    ----------
    account : Account
        Says whether there is a thermostat.
    facts : mapping
        What the trace adds to what is known of the run.
    trace : array of shape (chain, draw, 3)
        Of all draws, each a mean over the iterations that lead to it.
    n_draws : int
        Draws of a chain that were kept, evenly apart.
    """
    if account.diffusion is not None:
        columns = {"temperature": 0, "thermostat": 1}
    elif "acceptance" in facts or "acceptance_rate" in facts:
        columns = {"acceptance_rate": 1}
    else:
        return {}
    kept = trace[:, :: -(-trace.shape[1] // n_draws)]
    if kept.shape[1] != n_draws:  # repeated or dropped, by their weights
        return {}
    return {name: kept[..., column].astype(np.float32) for name, column in columns.items()}


def together(found: Sequence[Mapping[str, FloatArray]], n_draws: int) -> dict[str, FloatArray]:
    """Those of several runs on an axis of their own, as far as all of them have them."""
    names = [name for name in found[0] if all(name in one for one in found)]
    return {name: np.stack([one[name][:, :n_draws] for one in found], axis=2) for name in names}
