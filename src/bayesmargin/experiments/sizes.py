"""What a run is asked for: its size and its seed."""

from typing import NamedTuple, TypeVar

SIZES = ("quick", "default", "full")
Value = TypeVar("Value")


class Setup(NamedTuple):
    """Size and seed of a run.

    ``"quick"`` takes about a minute, ``"default"`` minutes (the topic models more than an hour),
    and ``"full"`` is the size of the paper, which takes hours.

    Examples
    --------
    >>> from bayesmargin.experiments.sizes import Setup
    >>> Setup("quick").choose(1, 3, 5)
    1
    """

    size: str = "default"
    seed: int = 0

    def choose(self, quick: Value, default: Value, full: Value | None = None) -> Value:
        """The value for this size; "full" takes the default's unless it has one of its own."""
        if self.size == "quick":
            return quick
        return full if self.size == "full" and full is not None else default
