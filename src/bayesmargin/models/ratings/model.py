"""Max-margin factorization as a model of blocks: its state, its moves, and what is kept of it."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.base import State, initial_state
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.ratings.columns import stretch_scales, trade_columns, turn_columns
from bayesmargin.models.ratings.features import move_features
from bayesmargin.models.ratings.minibatch import Batches, move, position_of, widths
from bayesmargin.models.ratings.orbits import shift_bias, shift_factors, stretch
from bayesmargin.models.ratings.priors import Expected, Priors, draw_priors, first_priors
from bayesmargin.models.ratings.tables import Ratings, draw_rows, measure
from bayesmargin.targets.base import Scratch

MOVING = ("rng", "user", "threshold", "item", "priors", "motion", "reach", "reaches")
FIRST_REACH = 0.1
SHARPNESS = 0.25  # of the sum of hinges in a score, times cost and thresholds over margin


class Draw(NamedTuple):
    """What is kept of a state; the last rows are of a user and an item that nobody has seen."""

    user: FloatArray  #: (n_users + 1, 1 + n_factors) biases and factors, or binary features
    threshold: FloatArray  #: (n_users + 1, n_levels - 1)
    item: FloatArray  #: (n_items + 1, 1 + n_factors)


@dataclasses.dataclass
class Chain:
    """State of one chain."""

    model: "Factorization"
    rng: np.random.Generator
    user: FloatArray
    threshold: FloatArray
    item: FloatArray
    priors: Priors
    motion: State | None = None  #: of all rows, where a dynamics moves them
    reach: float = FIRST_REACH  #: of proposals to multiply all scores
    reaches: FloatArray | None = None  #: of those to multiply one scale

    @functools.cached_property
    def target(self) -> Batches:
        """All rows given their priors, which it reads where they are; it writes the rows."""
        one, n_factors, n_cuts = self.model, self.user.shape[1] - 1, self.threshold.shape[1]
        expected, users = one.expected, one.by_user
        first = first_priors(n_factors, n_factors, n_cuts, expected)
        of_user = np.repeat(np.arange(len(users.start) - 1), np.diff(users.start))
        order = np.random.default_rng(0).permutation(len(of_user))
        sharpness = SHARPNESS * one.cost * n_cuts / one.margin
        biases, cuts = np.ones(1), np.full(n_cuts, n_cuts**-0.5)
        seen_by_user = np.concatenate([biases, np.full(n_factors, expected.factor), cuts])
        seen_by_item = np.ones(1 + n_factors)
        return Batches(
            of_user[order], users.other[order], users.level[order], min(one.batch, len(order)),
            one.cost, one.margin, self.user, self.threshold, self.item, *self.priors,
            widths(np.diff(users.start), first.user_precision, seen_by_user, sharpness),
            widths(np.diff(one.by_item.start), first.item_precision, seen_by_item, sharpness),
        )  # fmt: skip

    @functools.cached_property
    def work(self) -> Scratch:
        """Work space of the dynamics."""
        size = self.user.size + self.threshold.size + self.item.size
        return Scratch(np.empty(size), np.empty(size), np.empty(size))


class Users:
    """Biases, factors and thresholds of all users."""

    name = "users"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw them given items."""
        one, priors = chain.model, chain.priors
        draw_rows(
            chain.rng, *one.by_user, chain.user, chain.item, chain.threshold, True,
            1 if one.infinite else chain.user.shape[1],
            priors.user_mean, priors.user_precision, one.cost, one.margin,
        )  # fmt: skip


class Items:
    """Biases and factors of all items."""

    name = "items"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw them given users."""
        one, width, precision = chain.model, chain.item.shape[1], chain.priors.item_precision
        if one.infinite:  # one scale for all features
            precision = np.append(precision[:1], np.full(width - 1, precision[1]))
        draw_rows(
            chain.rng, *one.by_item, chain.item, chain.user, chain.threshold, False,
            width, np.zeros(width), precision, one.cost, one.margin,
        )  # fmt: skip


class UserFeatures:
    """Binary features of all users, old ones and new."""

    name = "features"

    def update(self, chain: Chain, learning: bool) -> None:
        """One sweep over users."""
        one = chain.model
        chain.user, chain.item = move_features(
            chain.rng, one.by_user, chain.user, chain.threshold, chain.item, one.cost, one.margin,
            float(chain.priors.item_precision[1]) ** -0.5, one.concentration,
        )  # fmt: skip


class Everything:
    """All rows at once, by a dynamics with minibatches of ratings."""

    name = "rows"

    def update(self, chain: Chain, learning: bool) -> None:
        """As many steps as read every rating once, on average."""
        one, target = chain.model, chain.target
        if chain.motion is None:
            chain.motion = initial_state(position_of(target), chain.rng, one.friction)
        steps = one.passes * max(1, round(len(target.level) / target.batch))
        move(one.dynamics, target, chain.motion, chain.work, chain.rng, steps)


class Orbits:
    """What all rows share."""

    name = "orbits"

    def update(self, chain: Chain, learning: bool) -> None:
        """Shifts that no rating sees, and two proposals of wider or narrower scores."""
        one, rng, priors = chain.model, chain.rng, chain.priors
        user, threshold, item = chain.user, chain.threshold, chain.item
        of_user, of_item = float(priors.user_precision[0]), float(priors.item_precision[0])
        n_factors = user.shape[1] - 1
        for bias, precision in ((user[:, 0], of_user), (item[:, 0], of_item)):
            shift_bias(rng, bias, precision, threshold, one.expected, priors)
        if n_factors > 0:
            entries = np.full(n_factors, priors.item_precision[1:])
            shift_factors(rng, item[:, 1:], entries, user[:, 0], of_user, user[:, 1:])
            if not one.infinite:
                same = np.ones(n_factors)
                shift_factors(rng, user[:, 1:], same, item[:, 0], of_item, item[:, 1:])
        if one.expected.learned:
            for _ in range(2):
                rows, settings = (user, threshold, item), (one.cost, one.margin, one.expected)
                moved = stretch(rng, one.by_user, rows, *settings, priors, chain.reach)
                if learning:
                    chain.reach *= 1.1 if moved else 0.95


class Columns:
    """Factors column by column, with the scale of each."""

    name = "columns"

    def update(self, chain: Chain, learning: bool) -> None:
        """Turns and trades that no rating sees, then columns wider or narrower."""
        one, rng, expected = chain.model, chain.rng, chain.model.expected
        priors, cuts = chain.priors, chain.threshold.shape[1]
        if not expected.learned:
            return
        if chain.item.shape[1] > 1 and not one.infinite:
            factors = chain.user[:, 1:], chain.item[:, 1:], priors.item_precision[1:]
            turn_columns(rng, *factors)
            trade_columns(rng, *factors, expected.factor, expected.strength)
        precision = np.append(priors.user_precision[-cuts:], priors.item_precision[1:])
        scales = np.where(np.arange(len(precision)) < cuts, expected.bias, expected.factor)
        if chain.reaches is None:
            chain.reaches = np.full(len(precision), FIRST_REACH)
        stretch_scales(
            rng, *one.by_user, chain.user, chain.threshold, chain.item, one.cost, one.margin,
            priors.user_mean[-cuts:], precision, scales, expected.strength, chain.reaches, learning,
        )  # fmt: skip
        priors.user_precision[-cuts:], priors.item_precision[1:] = np.split(precision, [cuts])


class Scales:
    """Priors of the rows."""

    name = "scales"

    def update(self, chain: Chain, learning: bool) -> None:
        """Draw them given the rows."""
        draw_priors(
            chain.rng, chain.user, chain.threshold, chain.item, chain.model.expected, chain.priors
        )


class Factorization(NamedTuple):
    """What the chains of one fit have in common."""

    by_user: Ratings  #: the last row, of users nobody has seen, is empty; so is that of items
    by_item: Ratings
    n_factors: int
    n_levels: int
    cost: float
    margin: float
    expected: Expected
    dynamics: Any = None  #: None: exact conditionals
    batch: int = 0
    friction: float = 0.0  #: where a thermostat begins
    passes: int = 1  #: over the ratings in a sweep of a dynamics
    concentration: float = 0.0  #: of binary features of users; 0: they have factors

    @property
    def infinite(self) -> bool:
        """Whether users have binary features, as many as they need."""
        return self.concentration > 0.0

    @property
    def blocks(self) -> Any:
        """The rows, then their priors."""
        rows = (Users(), Items(), Orbits(), Columns()) if self.dynamics is None else (Everything(),)
        return (*((UserFeatures(),) if self.infinite else ()), *rows, Scales())

    def begin(self, rng: np.random.Generator) -> Chain:
        """Nobody differs from anybody, but for factors, which begin near zero, and features."""
        n_users, n_items = len(self.by_user.start) - 1, len(self.by_item.start) - 1
        drawn, scales = (0, 1) if self.infinite else (self.n_factors, self.n_factors)
        priors = first_priors(drawn, scales, self.n_levels - 1, self.expected)
        user, item = (np.zeros((n, 1 + self.n_factors)) for n in (n_users, n_items))
        for rows in (user, item):
            rows[:, 1:] = 0.3 * self.expected.factor * rng.standard_normal(rows[:, 1:].shape)
        if self.infinite:
            user[:, 1:] = rng.random(user[:, 1:].shape) < 0.5
            held = np.append(True, user[:, 1:].any(axis=0))
            user, item = (np.ascontiguousarray(rows[:, held]) for rows in (user, item))
        threshold = np.tile(priors.user_mean[1 + drawn :], (n_users, 1))
        return Chain(self, rng, user, threshold, item, priors)

    def traces(self, chain: Chain) -> dict[str, float]:
        """Hinges a rating, how far items differ, and how much of scores is factors."""
        hinge, square = measure(*self.by_user, chain.user, chain.item, chain.threshold, self.margin)
        count = len(self.by_user.level)
        centre = np.append(1.0, chain.user[:-1, 1:].mean(axis=0))  # scores of a user like them all
        found = {"hinge": hinge / count, "items": float((chain.item[:-1] @ centre).std())}
        if self.infinite:
            found["features"] = float(chain.user.shape[1] - 1)
        return {**found, "factors": float(np.sqrt(square / count))} if self.n_factors else found

    def draw(self, chain: Chain) -> Draw:
        """All rows."""
        return Draw(chain.user.copy(), chain.threshold.copy(), chain.item.copy())

    def moving(self, chain: Chain) -> dict[str, Any]:
        """What a sweep changes."""
        return {name: getattr(chain, name) for name in MOVING}

    def resume(self, moving: dict[str, Any]) -> Chain:
        """The chain that had this state."""
        return Chain(self, **moving)
