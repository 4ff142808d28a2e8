"""How many documents a minibatch has, and how far those of a stream that are fewer may move."""

from collections.abc import Iterator

from bayesmargin.foundation.types import IntArray

# Documents that are this part of a minibatch count as a whole one: the last of a pass has no less.
_WHOLE = 0.4


def growing_size(n_seen: int, batch_size: int) -> int:
    """Size of the next minibatch: an eighth at first, since early steps gain more than they lose.

    Examples
    --------
    >>> from bayesmargin.models.medlda.pace import growing_size
    >>> [growing_size(n, 256) for n in (0, 1000, 2000, 5000)]
    [32, 62, 125, 256]
    """
    return min(batch_size, max(1, batch_size // 8, n_seen // 16))


def one_pass(order: IntArray, n_seen: int, batch_size: int) -> Iterator[IntArray]:
    """Minibatches of documents in this order, after ``n_seen`` of them.

    A remainder smaller than half a minibatch would be all noise: it joins the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.pace import one_pass
    >>> [len(chosen) for chosen in one_pass(np.arange(70), 0, 256)]
    [32, 38]
    """
    first = 0
    while first < len(order):
        size = growing_size(n_seen + first, batch_size)
        last = first + size if len(order) - first >= 1.5 * size else len(order)
        yield order[first:last]
        first = last


def part_of_minibatch(n_chosen: int, n_seen: int, batch_size: int, n_total: float) -> float:
    """What part of a minibatch so many documents are; 1 for a whole one, or nearly half of it.

    A stream may come in parts of any size. Were a step of few documents as long as that of a whole
    minibatch, their noise would be as much larger as they are fewer; shorter in proportion, steps
    of as many documents move as far, and have the noise of one minibatch.

    Examples
    --------
    >>> from bayesmargin.models.medlda.pace import part_of_minibatch
    >>> [part_of_minibatch(n, 0, 256, 1000.0) for n in (1, 8, 16, 40)]
    [0.03125, 0.25, 1.0, 1.0]
    >>> part_of_minibatch(20, 0, 256, 20.0)  # all documents there are
    1.0
    """
    part = n_chosen / min(growing_size(n_seen, batch_size), n_total)
    return part if part < _WHOLE else 1.0
