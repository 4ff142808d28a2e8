"""Equal rows of a sparse matrix: found by their content, or by hashes where there are many."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import IntArray

WORTHWHILE = 0.8  # share of the rows that is left, at most, where joining equal ones pays
KEYS = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], dtype=np.uint64)


def equal_rows(values: Any, label: Any) -> tuple[IntArray, IntArray]:
    """First occurrence of every distinct row, in an order of their content, and where each went."""
    bounds, indices, data = values.indptr, values.indices, values.data
    seen: dict[bytes, list[int]] = {}
    for i in range(values.shape[0]):
        part = slice(bounds[i], bounds[i + 1])
        key = b"%r " % label[i].item() + indices[part].tobytes() + data[part].tobytes()
        seen.setdefault(key, []).append(i)
    first = np.empty(len(seen), dtype=np.int64)
    place = np.empty(values.shape[0], dtype=np.int64)
    for number, key in enumerate(sorted(seen)):
        first[number] = seen[key][0]
        place[seen[key]] = number
    return first, place


def many_equal_rows(values: Any, label: Any) -> tuple[IntArray, IntArray] | None:
    """As :func:`equal_rows`, in the order of the rows; None where nearly all rows are distinct.

    Some operations an entry, whatever the number of rows. ``values`` is in canonical form.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesmargin.rows.alike import many_equal_rows
    >>> rows = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0]]))
    >>> many_equal_rows(rows, np.array([0, 1, 0, 1]))
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    >>> many_equal_rows(rows, np.arange(4)) is None
    True
    """
    hashes = _hashes(values, label)
    order = np.lexsort(hashes[::-1])
    ahead = np.any(hashes[:, order[1:]] != hashes[:, order[:-1]], axis=0)
    if 1 + np.count_nonzero(ahead) > WORTHWHILE * len(order):
        return None
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(ahead)])
    _, earliest, place = np.unique(group, return_index=True, return_inverse=True)
    rank = np.argsort(earliest)
    number = np.empty(len(rank), dtype=np.int64)
    number[rank] = np.arange(len(rank))
    first, place = earliest[rank], number[place.ravel()]
    representative = first[place]
    alike = (values[representative] != values).nnz == 0
    return (first, place) if alike and np.array_equal(label[representative], label) else None


def _hashes(values: Any, label: Any) -> Any:
    """Two numbers a row, made of its entries and its label: equal for equal rows."""
    content = np.ascontiguousarray(values.data, dtype=float).view(np.uint64)
    own = np.ascontiguousarray(label, dtype=float).view(np.uint64)
    found = []
    for key in KEYS:
        column = _mixed(values.indices.astype(np.uint64) * key)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(content ^ column))])
        found.append(sums[values.indptr[1:]] - sums[values.indptr[:-1]] + _mixed(own * key))
    return np.stack(found)


def _mixed(bits: Any) -> Any:
    """The finaliser of SplitMix64, which leaves no pattern."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
