"""From the chains of a factorization to draws by name, and to probabilities of ratings."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.buffet.features import enlarged
from bayesmargin.models.ratings.tables import forecast
from bayesmargin.posterior import Posterior
from bayesmargin.running.gibbs import Gibbs

DIMS = {
    "user_bias": ("user",),
    "user_factors": ("user", "factor"),
    "thresholds": ("user", "cut"),
    "item_bias": ("item",),
    "item_factors": ("item", "factor"),
    "new_user": ("user_coordinate",),
    "new_item": ("item_coordinate",),
    "n_features": (),
}


def posterior_of(
    chains: Sequence[Gibbs], users: Any, items: Any, levels: Any, infinite: bool,
    attrs: dict[str, Any],
) -> Posterior:  # fmt: skip
    """Draws of all rows; those of a user and an item that nobody has seen apart.

    Of an ``infinite`` model, rows have zeros for features that a draw lacks.
    """
    number = min(len(chain.draws) for chain in chains)
    kept = [chain.draws[-number:] for chain in chains]
    widths = np.array([[draw.item.shape[1] for draw in part] for part in kept])
    threshold = np.array([[draw.threshold for draw in part] for part in kept])
    user, item = (
        np.array(
            [[enlarged(getattr(draw, name), widths.max(), (1,)) for draw in part] for part in kept]
        )
        for name in ("user", "item")
    )
    found = {
        "user_bias": user[:, :, :-1, 0],
        "user_factors": user[:, :, :-1, 1:],
        "thresholds": threshold[:, :, :-1],
        "item_bias": item[:, :, :-1, 0],
        "item_factors": item[:, :, :-1, 1:],
        "new_user": np.concatenate([user[:, :, -1], threshold[:, :, -1]], axis=2),
        "new_item": item[:, :, -1],
    }
    if infinite:
        found["n_features"] = widths - 1.0
    factors = [f"factor {k}" for k in range(item.shape[-1] - 1)]
    cuts = [f"{low}|{high}" for low, high in itertools.pairwise(levels)]
    coords = {
        "user": users.tolist(),
        "item": items.tolist(),
        "factor": factors,
        "cut": cuts,
        "user_coordinate": ["bias", *factors, *cuts],
        "item_coordinate": ["bias", *factors],
    }
    owned = {name: np.ascontiguousarray(values) for name, values in found.items()}
    return Posterior(owned, {name: DIMS[name] for name in found}, coords, attrs)


def liking(posterior: Posterior) -> FloatArray:
    """How much users like each item on average, their own biases aside: draws by items.

    A bias alone does not tell: factors that most users share do its work as well.
    """
    centre = posterior.flat("user_factors").mean(axis=1)
    factors = posterior.flat("item_factors")
    value: FloatArray = posterior.flat("item_bias") + np.einsum("tjk,tk->tj", factors, centre)
    return value


def rows_of_draws(posterior: Posterior) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of users, thresholds and items of all draws, those that nobody has seen last."""
    new_user, new_item = posterior.flat("new_user"), posterior.flat("new_item")
    n_cuts = posterior["thresholds"].shape[-1]
    sides = []
    for name, new in (("user", new_user[:, : new_user.shape[1] - n_cuts]), ("item", new_item)):
        bias = posterior.flat(f"{name}_bias")[:, :, None]
        rows = np.concatenate([bias, posterior.flat(f"{name}_factors")], axis=2)
        sides.append(np.concatenate([rows, new[:, None]], axis=1))
    last = new_user[:, None, new_user.shape[1] - n_cuts :]
    threshold = np.concatenate([posterior.flat("thresholds"), last], axis=1)
    return sides[0], threshold, sides[1]


def probabilities(
    posterior: Posterior, i: IntArray, j: IntArray, sharpness: float, margin: float
) -> FloatArray:
    """Probabilities of all levels (columns) for pairs, means over the draws."""
    user, threshold, item = rows_of_draws(posterior)
    chance = np.zeros((len(i), threshold.shape[2] + 1))
    for draw in range(len(user)):
        forecast(user[draw], threshold[draw], item[draw], i, j, sharpness, margin, chance)
    chance /= len(user)
    return chance
