"""Links as users hold them: matrices, one or one a relation, and tables of pairs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.links.pairs import Asked

MOST_PAIRS = 200_000_000
ENDS = ("source", "target")


class Known(NamedTuple):
    """Links as they were handed in: 1, 0, and NaN where nobody knows."""

    matrix: FloatArray  #: (relation, entity, entity)
    entities: Any
    relations: Any
    listed: bool = False  #: whether pairs were told once, in either order


def read_links(links: Any) -> Known:
    """Matrices of the relations, and the names of entities and relations.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesmargin.models.links.reading import read_links
    >>> table = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cleo"]})
    >>> known = read_links(table)
    >>> known.matrix[0].tolist(), known.entities.tolist()
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], ['ann', 'bob', 'cleo'])
    """
    if isinstance(links, Mapping):
        parts = [_matrix(part) for part in links.values()]
        if len({len(part) for part in parts}) != 1:
            raise DataError("the matrices of the relations differ in size, or there are none")
        found = Known(np.stack(parts), np.arange(len(parts[0])), np.array(list(links)))
    elif hasattr(links, "columns") and set(ENDS) <= set(links.columns):
        found = _read_table(links)
    elif hasattr(links, "columns") and hasattr(links, "index"):
        matrix, names = _matrix(links.to_numpy(dtype=float)), np.asarray(links.index.tolist())
        if names.tolist() != list(links.columns):
            raise DataError(
                "the table of links has other columns than rows: it is a square matrix with the "
                "same names on both sides, or has columns named source and target"
            )
        found = Known(matrix[None], names, np.arange(1))
    else:
        parts = [links] if sparse.issparse(links) or np.ndim(links) == 2 else list(links)
        stack = np.stack([_matrix(part) for part in parts])
        found = Known(stack, np.arange(stack.shape[1]), np.arange(len(stack)))
    if len(found.entities) < 3:
        raise DataError(f"there are {len(found.entities)} entities: links are of at least 3")
    return found


def _matrix(part: Any) -> FloatArray:
    """One relation: zeros, ones, and NaN."""
    dense = part.toarray() if sparse.issparse(part) else part
    try:
        matrix = np.array(dense, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"links are zeros, ones, and NaN where nobody knows: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"a matrix of links has the shape {matrix.shape}: it is a square one, with a row and a "
            "column for each entity"
        )
    wrong = ~(np.isnan(matrix) | (matrix == 0.0) | (matrix == 1.0))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DataError(
            f"the link of entities {i} and {j} is {matrix[i, j]:g}: it is 1, 0, or NaN where "
            "nobody knows"
        )
    return matrix


def _read_table(table: Any) -> Known:
    """Pairs a row; without a column "link" those that are not there have none."""
    columns = [np.asarray(table[name].tolist()) for name in ENDS]
    entities, places = np.unique(np.concatenate(columns), return_inverse=True)
    source, target = np.split(places, 2)
    if "relation" in table.columns:
        relations, relation = np.unique(
            np.asarray(table["relation"].tolist()), return_inverse=True
        )  # fmt: skip
    else:
        relations, relation = np.arange(1), np.zeros(len(source), dtype=int)
    shape = (len(relations), len(entities), len(entities))
    _require_room(shape)
    told = "link" in table.columns
    matrix = np.full(shape, np.nan if told else 0.0)
    matrix[relation, source, target] = np.asarray(table["link"], dtype=float) if told else 1.0
    stack = np.stack([_matrix(part) for part in matrix])
    return Known(stack, entities, relations, listed=True)


def _require_room(shape: tuple[int, ...]) -> None:
    if np.prod(shape, dtype=float) > MOST_PAIRS:
        raise DataError(
            f"{shape[1]} entities and {shape[0]} relations make {np.prod(shape, dtype=float):.1e} "
            f"pairs, and at most {MOST_PAIRS:.0e} are read: leave out entities with few links"
        )


def pairs_of(known: Known, directed: bool) -> Asked:
    """The pairs of which it is known whether they are linked; nobody is linked to himself."""
    matrix = known.matrix
    if not directed:
        mirror = np.swapaxes(matrix, 1, 2)
        apart = np.argwhere(~np.isnan(matrix) & ~np.isnan(mirror) & (matrix != mirror))
        if len(apart) and not known.listed:
            _, i, j = apart[0]
            a, b = known.entities[[i, j]].tolist()
            raise DataError(
                f"{a!r} is linked to {b!r} in one direction only: pass directed=True, or a "
                "symmetric matrix"
            )
        matrix = np.fmax(matrix, mirror)
    linked = ~np.isnan(matrix)
    index = np.arange(len(known.entities))
    linked &= (index[:, None] != index) if directed else (index[:, None] < index)
    relation, source, target = np.nonzero(linked)
    values = matrix[relation, source, target].astype(np.int64)
    if not 0 < values.sum() < len(values):
        raise DataError(
            f"all {len(values)} pairs that are known have {'a link' if values.any() else 'no link'}"
            ": both kinds are needed"
        )
    return Asked(source, target, relation, values, np.ones(len(source)))


def read_pairs(pairs: Any, entities: Any, relations: Any) -> tuple[IntArray, ...]:
    """Numbers of source, target and relation of pairs that are asked for, by names."""
    if hasattr(pairs, "columns"):
        names = [name for name in (*ENDS, "relation") if name in pairs.columns]
        columns = [pairs[name].tolist() for name in names]
    else:
        rows = [list(row) for row in pairs]
        if not rows or {len(row) for row in rows} - {2, 3} or len({len(row) for row in rows}) > 1:
            raise DataError("pairs are rows (source, target) or (source, target, relation)")
        columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) < 3 and len(relations) > 1:
        raise DataError(
            f"there are {len(relations)} relations: say which one each pair is asked of"
        )
    ends = [_places(column, entities, "entity") for column in columns[:2]]
    if len(columns) < 3:
        return ends[0], ends[1], np.zeros(len(ends[0]), dtype=np.int64)
    return ends[0], ends[1], _places(columns[2], relations, "relation")


def _places(values: Any, among: Any, what: str) -> IntArray:
    numbers = {name: number for number, name in enumerate(among.tolist())}
    found = [numbers.get(value, -1) for value in values]
    if -1 in found:
        raise DataError(f"the fit has not seen the {what} {values[found.index(-1)]!r}")
    return np.array(found, dtype=np.int64)
