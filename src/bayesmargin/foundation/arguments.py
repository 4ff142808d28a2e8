"""Checks of arguments before any long work: an error names the argument, its value and a cure."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np


def require_positive(**values: float | int | None) -> None:
    """Raise a clear error for the first argument that is given and not a positive number.

    Examples
    --------
    >>> from bayesmargin.foundation.arguments import require_positive
    >>> require_positive(step=None, friction=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: friction=-1.0 is not allowed: it is a positive finite number
    """
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < np.inf:
            raise ValueError(f"{name}={value!r} is not allowed: it is a positive finite number")


def require_given(**values: Any) -> None:
    """Raise a clear error for the first argument that is not a positive number, None included."""
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{name}=None is not allowed: it is a positive finite number")
    require_positive(**values)


def require_share(name: str, value: Any) -> None:
    """Raise a clear error when ``value`` is not a number between 0 and 1."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (real and 0.0 < value < 1.0):
        raise ValueError(f"{name}={value!r} is not allowed: it lies between 0 and 1, both excluded")


def require_flag(name: str, value: Any, *words: str) -> None:
    """Raise a clear error when ``value`` is neither true nor false, 0 or 1, nor a given word."""
    if isinstance(value, str) and value in words:
        return
    if not isinstance(value, bool | np.bool_ | numbers.Integral) or value not in (0, 1):
        *others, last = ("True", "False", *map(repr, words))
        raise ValueError(f"{name}={value!r} is not allowed: it is {', '.join(others)} or {last}")


def require_real(**values: float | None) -> None:
    """Raise a clear error for the first argument that is given and not a real number."""
    for name, value in values.items():
        if value is not None and not isinstance(value, numbers.Real):
            raise ValueError(f"{name}={value!r} is not allowed: it is a number")


def require_count(name: str, value: Any, least: int) -> None:
    """Raise a clear error when ``value`` is not an integer of at least ``least``."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}={value!r} is not allowed: it is an integer of at least {least}")


def require_counts(**values: int | None) -> None:
    """Raise a clear error for the first argument that is given and not an integer from 1 on."""
    for name, value in values.items():
        if value is not None:
            require_count(name, value, 1)


def require_length(burn_in: int | None, thin: int | None) -> None:
    """Raise a clear error when the length of a run is given and not in whole iterations."""
    require_counts(thin=thin)
    if burn_in is not None:
        require_count("burn_in", burn_in, 0)


def require_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a clear error when ``value`` is not one of ``allowed``."""
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name}={value!r} is not allowed: choose one of {choices}")


def require_jobs(jobs: Any) -> None:
    """Raise a clear error when a number of threads is neither None nor an integer but 0."""
    if jobs is not None and (not isinstance(jobs, numbers.Integral) or jobs == 0):
        raise ValueError(f"n_jobs={jobs!r} is not allowed: None, or an integer other than 0")
