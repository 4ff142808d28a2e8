"""What every loader shares: its parameters, the parts a subset is made of, the result."""

import os
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from bayesmargin.foundation.types import BoolArray

Subset: TypeAlias = Literal["train", "test", "all"]
DataHome: TypeAlias = str | os.PathLike[str] | None
F = TypeVar("F", bound=Callable[..., Any])

_PARAMETERS = """
subset : {"train", "test", "all"}, default="train"
    Which part to load; "all" is the training part followed by the test part.
data_home : path, optional
    Folder with the data; see :func:`~bayesmargin.datasets.data_homes` for the default.
download_if_missing : bool, default=True
    Whether to download a missing file that has a public address. Otherwise, and for the sets
    without one, a missing file is a :class:`~bayesmargin.datasets.DataNotFoundError`.
return_X_y : bool, default=False
    Whether to return ``(data, target)`` instead of a bunch.
"""


def loader(function: F) -> F:
    """Write the parameters that all loaders share into the docstring, ahead of a loader's own."""
    assert function.__doc__ is not None
    text = textwrap.dedent("    " + function.__doc__)
    section = f"Parameters\n----------{_PARAMETERS}"
    if "Parameters\n----------\n" in text:
        text = text.replace("Parameters\n----------\n", section)
    else:
        text = text.replace("Returns\n-------\n", f"{section}\nReturns\n-------\n")
    function.__doc__ = text
    return function


def check_subset(subset: str, allowed: Sequence[str] = ("train", "test", "all")) -> None:
    """Raise when ``subset`` is not one of those allowed."""
    if subset not in allowed:
        raise ValueError(f"subset={subset!r} is not allowed: pass one of {', '.join(allowed)}")


def parts_of(subset: str) -> list[str]:
    """Parts of a set that comes in a training and a test file."""
    check_subset(subset)
    return ["train", "test"] if subset == "all" else [subset]


def every_fifth(count: int, subset: str) -> BoolArray:
    """Rows of a set that has no split of its own: every fifth row is a test row.

    The rule needs no random numbers, and keeps the shares of the classes whether a file is in
    random order or sorted by class.

    Examples
    --------
    >>> from bayesmargin.datasets.bunch import every_fifth
    >>> every_fifth(6, "test")
    array([False, False, False, False,  True, False])
    """
    check_subset(subset)
    test = np.arange(count) % 5 == 4
    return {"train": ~test, "test": test, "all": np.ones(count, dtype=bool)}[subset]


def answer(return_X_y: bool, data: Any, target: Any, **fields: Any) -> Any:
    """Return ``(data, target)`` or a bunch with all the fields."""
    if return_X_y:
        return data, target
    from sklearn.utils import Bunch

    return Bunch(data=data, target=target, **fields)


def stacked(blocks: Sequence[Any]) -> Any:
    """Join the blocks of several parts: arrays, CSR matrices or lists."""
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], list):
        return [item for block in blocks for item in block]
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    from scipy.sparse import vstack

    joined = vstack(blocks, format="csr")
    joined.indices = joined.indices.astype(np.int32, copy=False)
    joined.indptr = joined.indptr.astype(np.int32, copy=False)
    return joined
