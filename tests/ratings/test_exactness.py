"""Chains visit tiny posteriors as brute force says; minibatches agree; mistakes are noticed."""

import functools

import numpy as np
import pytest

from bayesmargin.dynamics.base import initial_state
from bayesmargin.inputs.triples import rows_of
from bayesmargin.models.ratings.minibatch import move, position_of
from bayesmargin.models.ratings.model import Factorization
from bayesmargin.models.ratings.priors import Expected
from bayesmargin.models.ratings.tables import Ratings
from bayesmargin.running.gibbs import Gibbs
from bayesmargin.samplers import SGHMC, SSGNHT

from .brute_force import cells, from_prior, log_psi, scores, shares

ROWS = np.array([(0, 0, 2), (0, 1, 0), (1, 0, 1), (1, 1, 2)])
COST, MARGIN = 0.8, 1.0
PAIRS = [(0, 0), (1, 1)]
SIZE = 3 * 3**2
FIXED, LEARNED = Expected(0.7, 0.8, 1.0, False), Expected(0.7, 0.8, 1.0, True, 3.0, 0.7)


def factorization(rows=ROWS, expected=FIXED, n_levels=3, **settings):
    """The model of a small table, two factors."""
    user, item, level = rows.T
    n_users, n_items = user.max() + 2, item.max() + 2  # the last ones are of nobody
    common = {
        "by_user": Ratings(*rows_of(user, item, level, n_users, "")),
        "by_item": Ratings(*rows_of(item, user, level, n_items, "")),
        "n_factors": 2, "n_levels": n_levels, "cost": COST, "margin": MARGIN, "expected": expected,
    }  # fmt: skip
    return Factorization(**{**common, **settings})


def visited(model, n_sweeps, seed=0):
    """Rows of users, thresholds and items in all sweeps after the first 200."""
    chain = Gibbs(model, np.random.default_rng(seed), 200, range(200, n_sweeps))
    chain.run(n_sweeps)
    return [np.array([getattr(draw, name) for draw in chain.draws]) for name in NAMES]


NAMES = ("user", "threshold", "item")


@functools.cache
def exact(expected, n_draws=2_000_000):
    """Shares of the cells; their own error is about 0.003 in total variation."""
    drawn = from_prior(np.random.default_rng(1), n_draws, 2, 2, 2, 2, expected)
    user, threshold, item = drawn
    logs = sum(
        log_psi(level, scores(user, item, i, j), threshold[:, i], COST, MARGIN)
        for i, j, level in ROWS
    )
    weight = np.exp(logs - logs.max())
    assert weight.sum() ** 2 / (weight**2).sum() > 50_000
    return shares(cells(*drawn, PAIRS), SIZE, weight)


def distance(model, expected, n_sweeps):
    """Total variation between the cells that a chain visits and the exact shares."""
    found = shares(cells(*visited(model, n_sweeps), PAIRS), SIZE)
    return 0.5 * np.abs(found - exact(expected)).sum()


@pytest.mark.slow
@pytest.mark.parametrize("expected", [FIXED, LEARNED], ids=["fixed", "learned"])
def test_long_chains_come_within_a_hundredth(expected):
    assert distance(factorization(expected=expected), expected, 200_200) < 0.01


@pytest.mark.parametrize("expected", [FIXED, LEARNED], ids=["fixed", "learned"])
def test_tiny_posteriors_are_visited_as_brute_force_says(expected):
    # 20,000 sweeps that depend on each other; independent draws would be off by 0.013.
    assert distance(factorization(expected=expected), expected, 20_200) < 0.03


def test_a_planted_mistake_is_noticed():
    wrong = factorization()._replace(cost=1.3 * COST)
    assert distance(wrong, FIXED, 20_200) > 0.04


def test_ratings_drawn_in_between_leave_the_joint_law():
    """Geweke's test of the law in proportion to prior times psi, of rows and ratings together."""
    rng = np.random.default_rng(2)
    model = factorization()
    chain = Gibbs(model, rng, 0, ())
    seen = []
    for _ in range(20_000):
        chain.run(1)
        state = chain.state
        rows = [array[None] for array in (state.user, state.threshold, state.item)]
        level = np.array([draw_level(rng, *rows, i, j) for i, j, _ in ROWS])
        seen.append((cells(*rows, PAIRS)[0], level.sum()))
        order = np.lexsort((ROWS[:, 0], ROWS[:, 1]))
        model.by_user.level[:], model.by_item.level[:] = level, level[order]
    drawn = from_prior(np.random.default_rng(3), 400_000, 2, 2, 2, 2, FIXED)
    weight = np.ones(len(drawn[0]))
    for i, j, _ in ROWS:
        weight *= psi_of_levels(*drawn, i, j).sum(axis=1)
    found = shares(np.array(seen)[:, 0], SIZE)
    assert 0.5 * np.abs(found - shares(cells(*drawn, PAIRS), SIZE, weight)).sum() < 0.03
    assert np.mean(np.array(seen)[:, 1]) == pytest.approx(4.0, abs=0.1)  # levels are symmetric


def psi_of_levels(user, threshold, item, i, j):
    """Factors of the three levels (columns) of a pair in every draw."""
    score = scores(user, item, i, j)
    return np.exp([log_psi(y, score, threshold[:, i], COST, MARGIN) for y in range(3)]).T


def draw_level(rng, user, threshold, item, i, j):
    """A rating in proportion to psi."""
    chance = psi_of_levels(user, threshold, item, i, j)[0]
    return rng.choice(3, p=chance / chance.sum())


def many_ratings(seed=0, n_users=30, n_items=20):
    """Ratings of half of all pairs, from a model."""
    rng = np.random.default_rng(seed)
    score = rng.standard_normal((n_users, 2)) @ rng.standard_normal((2, n_items))
    level = (score[..., None] + rng.logistic(size=(n_users, n_items, 1)) > [-1.0, 1.0]).sum(axis=2)
    user, item = np.nonzero(rng.random(score.shape) < 0.5)
    return np.column_stack([user, item, level[user, item]])


@pytest.mark.parametrize(
    "sampler", [SSGNHT(step=0.1), SGHMC(step=0.05)], ids=["ssgnht", "sghmc"]
)  # fmt: skip
def test_minibatches_agree_with_augmentation(sampler):
    rows = many_ratings()
    exact_rows = visited(factorization(rows), 3_200)
    model = factorization(
        rows, dynamics=sampler.dynamics(sampler.step, 1), batch=len(rows) // 3, friction=1.0,
        passes=8,
    )  # fmt: skip
    found_rows = visited(model, 6_200)
    for of in (np.mean, np.std):
        exact_values, found_values = (
            np.array([of(scores(user, item, i, j)) for i, j, _ in rows])
            for user, _, item in (exact_rows, found_rows)
        )
        assert np.corrcoef(exact_values, found_values)[0, 1] > 0.98
        ratio = found_values.std() / exact_values.std()
        assert 0.93 < ratio < 1.07
    spread = [np.mean([np.std(scores(u, v, i, j)) for i, j, _ in rows])
              for u, _, v in (exact_rows, found_rows)]  # fmt: skip
    assert spread[1] == pytest.approx(spread[0], rel=0.05)


def test_gradient_is_that_of_the_energy():
    """Steps of no friction and no noise along exact gradients keep the energy."""
    rows = many_ratings(1)
    model = factorization(rows, batch=len(rows))
    state = model.begin(np.random.default_rng(0))
    target, work = state.target, state.work

    def energy():
        value = 0.0
        for i, j, level in rows:
            score = scores(target.user[None], target.item[None], i, j)
            value -= log_psi(level, score, target.threshold[i][None], COST, MARGIN)[0]
        users = np.hstack([target.user, target.threshold])
        value += 0.5 * (target.user_precision * (users - target.user_mean) ** 2).sum()
        return value + 0.5 * (target.item_precision * target.item**2).sum()

    quiet = SGHMC(step=1e-3, friction=1e-9).dynamics(1e-3, 1)
    motion = initial_state(position_of(target), np.random.default_rng(1), 0.0)
    before = energy() + 0.5 * (motion.momentum**2).sum()
    move(quiet, target, motion, work, np.random.default_rng(2), 2000)
    after = energy() + 0.5 * (motion.momentum**2).sum()
    moved = abs(energy() - before + 0.5 * (motion.momentum**2).sum())
    assert moved == pytest.approx(0.0, abs=0.01 * abs(before))
    assert after == pytest.approx(before, rel=0.01)
