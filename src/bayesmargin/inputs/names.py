"""Names of columns or classes as people have them: a list, an array, an index, or a vocabulary."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np


def names_of(names: Any, count: int, what: str) -> list[str]:
    """The ``count`` names in their order, or an error that calls them ``what``.

    Parameters
    ----------
    names : iterable of names, or mapping of names to places
        For example the columns of a DataFrame, or ``vocabulary_`` of a vectorizer.

    Examples
    --------
    >>> from bayesmargin.inputs.names import names_of
    >>> names_of({"tide": 1, "moon": 0}, 2, "vocabulary")
    ['moon', 'tide']
    """
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise ValueError(f"{what}={names!r} is not allowed: give {count} names, in a list or array")
    if isinstance(names, Mapping):
        places = list(names.values())
        if not all(isinstance(place, Integral) for place in places) or (
            sorted(places) != list(range(count))
        ):
            raise ValueError(
                f"{what} maps {len(names)} names to places, but these are not the numbers from 0 "
                f"to {count - 1}, each once"
            )
        return [str(name) for name in sorted(names, key=names.__getitem__)]
    found = [str(name) for name in names]
    if len(found) != count:
        raise ValueError(f"{what} holds {len(found)} names, but {count} are needed")
    return found


def listed(names: Sequence[Any], most: int = 8) -> str:
    """Names in quotation marks, the first few of many.

    Examples
    --------
    >>> from bayesmargin.inputs.names import listed
    >>> listed(["moon", "tide", "star"], most=2)
    "'moon', 'tide' and 1 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def learn_columns(estimator: Any, count: int, names: Sequence[str] | None) -> None:
    """Let an estimator know the columns it is fitted on, as scikit-learn does for rows in memory.

    Without ``names`` those of an earlier fit are forgotten.
    """
    estimator.n_features_in_ = count
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
