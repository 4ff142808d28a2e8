"""Ratings as users hold them: names, levels in their order, and rows by either side."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.triples import UNKNOWN, numbers_of, read_columns, require_same_kind, rows_of
from bayesmargin.models.ratings.tables import Ratings

COLUMNS = ("user", "item", "rating")
TWICE = "ratings of the same item by the same user"


class Read(NamedTuple):
    """Ratings by user and by item, with the names of both; a row without ratings ends either."""

    users: Any
    items: Any
    levels: Any
    by_user: Ratings
    by_item: Ratings


def read_ratings(ratings: Any, levels: Any) -> Read:
    """Users, items and ratings of a table of three columns, or of a sparse matrix."""
    who, what, given = read_columns(ratings, COLUMNS, "ratings")
    order = levels_of(given, levels)
    found = {name: place for place, name in enumerate(order.tolist())}
    odd = [value for value in given.tolist() if value not in found]
    if odd:
        raise DataError(f"the rating {odd[0]!r} is none of levels={order.tolist()}")
    level = np.array([found[value] for value in given.tolist()], dtype=np.int64)
    users, user = np.unique(who, return_inverse=True)
    items, item = np.unique(what, return_inverse=True)
    by_user = Ratings(*rows_of(user, item, level, len(users) + 1, TWICE))
    by_item = Ratings(*rows_of(item, user, level, len(items) + 1, TWICE))
    return Read(users, items, order, by_user, by_item)


def levels_of(given: Any, levels: Any) -> Any:
    """The levels in their order: those that occur, if they are numbers, or as they were told."""
    if levels is None:
        if given.dtype.kind not in "iufb":
            raise DataError(
                f"ratings are words such as {given.tolist()[0]!r}: pass levels, all of them in "
                "their order from the worst to the best"
            )
        found = np.unique(given)
        if len(found) > 100:
            raise DataError(
                f"there are {len(found)} different ratings: they are levels, a few, from the worst "
                "to the best; round them"
            )
    else:
        found = np.asarray(list(levels))
    if len(found) < 2 or len(set(found.tolist())) < len(found):
        raise DataError(f"levels={found.tolist()} is not allowed: two different ones at least")
    return found


def read_pairs(pairs: Any, users: Any, items: Any) -> tuple[IntArray, IntArray]:
    """Rows of users and items to predict for; of names that nobody has seen the last ones."""
    who, what = read_columns(_without_ratings(pairs), COLUMNS[:2], "pairs")
    require_same_kind(who, users, "user")
    require_same_kind(what, items, "item")
    found = []
    for names, among in ((who, users), (what, items)):
        place = numbers_of(names, among)
        found.append(np.where(place == UNKNOWN, len(among), place))
    return found[0], found[1]


def _without_ratings(pairs: Any) -> Any:
    """Pairs of rows that may have ratings behind them; frames tell columns by their names."""
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.shape[1] == len(COLUMNS):
        return pairs[:, :2]
    if isinstance(pairs, list | tuple):
        return [
            row[:2] if isinstance(row, list | tuple | np.ndarray) and len(row) == 3 else row
            for row in pairs
        ]
    return pairs
