"""Whether partitions are parts of one table: the same columns, in the same order."""

from collections.abc import Sequence

Names = tuple[str, ...] | None


def common_columns(
    widths: Sequence[int], names: Sequence[Names], numbers: Sequence[int]
) -> tuple[int, Names]:
    """Number and names of the columns of all partitions, or an error that names the odd one.

    ``numbers`` are those of the partitions. Columns without names count by their place.

    Examples
    --------
    >>> from bayesmargin.distributed.columns import common_columns
    >>> common_columns([2, 2], [("a", "b"), None], [0, 1])
    (2, ('a', 'b'))
    >>> common_columns([2, 2], [("a", "b"), ("b", "a")], [0, 3])
    Traceback (most recent call last):
        ...
    ValueError: partitions 0 and 3 (counted from 0) differ in their columns: number 0 is 'a' in \
the one and 'b' in the other; give all partitions the same columns in the same order
    """
    first, known = numbers[0], None
    for width, own, number in zip(widths, names, numbers, strict=True):
        if width != widths[0]:
            raise ValueError(
                f"partitions differ in their number of columns: {widths[0]} in partition "
                f"{numbers[0]} and {width} in partition {number} (counted from 0)"
            )
        if own is not None and known is None:
            first, known = number, own
        if own is None or known is None or own == known:
            continue
        place = next(j for j in range(width) if own[j] != known[j])
        raise ValueError(
            f"partitions {first} and {number} (counted from 0) differ in their columns: number "
            f"{place} is {known[place]!r} in the one and {own[place]!r} in the other; give all "
            "partitions the same columns in the same order"
        )
    if widths[0] == 0:
        raise ValueError("the partitions have no columns: at least one feature is needed")
    return widths[0], known
