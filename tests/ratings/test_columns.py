"""Moves of scales and columns leave the prior as it is, and scores where they should."""

import numpy as np
import pytest

from bayesmargin.models.ratings.columns import stretch_scales, trade_columns, turn_columns

N_USERS, N_ITEMS, N_FACTORS, N_CUTS, N_DRAWS = 3, 4, 3, 2, 8000
BIAS, FACTOR, STRENGTH = 0.7, 0.8, 3.0
MEANS = np.array([-0.5, 0.5])


def from_prior(rng):
    """Precisions of users' and of items' coordinates, and rows."""
    of_user = rng.gamma(STRENGTH, 1.0 / (STRENGTH * BIAS**2), 1 + N_FACTORS + N_CUTS)
    of_user[1 : 1 + N_FACTORS] = 1.0
    scales = np.append(BIAS, np.full(N_FACTORS, FACTOR))
    of_item = rng.gamma(STRENGTH, 1.0 / (STRENGTH * scales**2))
    rows = rng.standard_normal((N_USERS, len(of_user))) / np.sqrt(of_user)
    item = rng.standard_normal((N_ITEMS, 1 + N_FACTORS)) / np.sqrt(of_item)
    user, threshold = np.split(rows, [1 + N_FACTORS], axis=1)
    return of_user, of_item, user.copy(), threshold + MEANS, item


def facts(of_user, of_item, user, threshold, item):
    """Figures that a wrong factor in any of the laws would change."""
    away = threshold - MEANS
    return [
        *np.log(of_user[[0, -2, -1]]), *np.log(of_item), of_item[1], of_item[1:].max(),
        np.square(user[:, 0]).sum(), np.square(user[:, 1]).sum(), (user[:, 1] @ user[:, 2]) ** 2,
        np.abs(away).sum(), np.square(away[:, 0]).sum() * of_user[-2],
        np.abs(item[:, 0]).sum(), np.abs(item[:, 1]).sum(), np.square(item[0, 1] * item[0, 2]),
        np.square(item[:, 1]).sum() * of_item[1], np.square(item[:, 1]).sum() * of_item[2],
        (user[0, 1:] @ item[0, 1:]) ** 2,
    ]  # fmt: skip


def turn(rng, of_user, of_item, user, threshold, item):
    turn_columns(rng, user[:, 1:], item[:, 1:], of_item[1:])


def trade(rng, of_user, of_item, user, threshold, item, strength=STRENGTH):
    trade_columns(rng, user[:, 1:], item[:, 1:], of_item[1:], FACTOR, strength)


def stretch(rng, of_user, of_item, user, threshold, item, strength=STRENGTH):
    """No rating costs anything, so that priors alone decide."""
    start, none = np.arange(N_USERS + 1), np.zeros(N_USERS, dtype=np.int64)
    precision = np.append(of_user[-N_CUTS:], of_item[1:])
    scales = np.repeat([BIAS, FACTOR], [N_CUTS, N_FACTORS])
    stretch_scales(
        rng, start, none, none, user, threshold, item, 0.0, 1.0, MEANS, precision, scales, strength,
        np.full(len(scales), 0.5), False,
    )  # fmt: skip
    of_user[-N_CUTS:], of_item[1:] = np.split(precision, [N_CUTS])


def farthest(move, **changes):
    """Largest change of a mean over draws of the prior, in its standard errors."""
    rng, gone = np.random.default_rng(0), []
    for _ in range(N_DRAWS):
        parts = from_prior(rng)
        before = facts(*parts)
        move(rng, *parts, **changes)
        gone.append(np.subtract(facts(*parts), before))
    gone = np.array(gone)
    return np.max(np.abs(gone.mean(axis=0)) / (gone.std(axis=0) + 1e-9) * np.sqrt(N_DRAWS))


@pytest.mark.parametrize("move", [turn, trade, stretch])
def test_moves_leave_the_prior_as_it_is(move):
    assert farthest(move) < 4.0


@pytest.mark.parametrize("move", [trade, stretch])
def test_a_wrong_prior_of_scales_is_noticed(move):
    assert farthest(move, strength=1.5 * STRENGTH) > 8.0


@pytest.mark.parametrize("move", [turn, trade])
def test_no_score_sees_turns_and_trades(move):
    rng = np.random.default_rng(1)
    parts = from_prior(rng)
    user, item = parts[2], parts[4]
    before, rows = user[:, 1:] @ item[:, 1:].T, item[:, 1:].copy()
    move(rng, *parts)
    np.testing.assert_allclose(user[:, 1:] @ item[:, 1:].T, before)
    assert np.abs(item[:, 1:] - rows).max() > 0.01
