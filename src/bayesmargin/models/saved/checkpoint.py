"""Where the state of a fit is kept, and how often: what users write for ``checkpoint``."""

import os
from dataclasses import dataclass
from typing import Any

from bayesmargin.foundation.arguments import require_given
from bayesmargin.foundation.settings import Settings


@dataclass(frozen=True, repr=False)
class Checkpoint(Settings):
    """A folder to which the state of a fit is written now and then.

    A fit of the same data and settings goes on from it, bit by bit. It is removed when the fit is
    complete.

    Parameters
    ----------
    path : path-like
        The folder.
    every : float
        Seconds between two states; more where writing one takes over a hundredth of that.

    Examples
    --------
    >>> from bayesmargin import BayesianLinearSVC, Checkpoint
    >>> BayesianLinearSVC(checkpoint=Checkpoint("fit.state", every=600)).checkpoint.every
    600
    """

    path: Any
    every: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise ValueError(f"checkpoint={self.path!r} is not allowed: it is the path of a folder")
        require_given(every=self.every)


def checkpoint_of(value: Any) -> Checkpoint | None:
    """The checkpoint that a parameter holds, as an object or as a path; None: there is none."""
    return value if value is None or isinstance(value, Checkpoint) else Checkpoint(value)
