"""Rows and labels of a problem brought to a device, shuffled, and filled up to whole tiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.families import BinaryHinges, LargestHinges, SeparateHinges
from bayesmargin.engines.target import Layout
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.blocks import as_dense
from bayesmargin.targets.problem import Problem

PIECE = 1 << 26  # numbers of the rows that travel to the device together
SMALLEST_TILE = 64
EVENLY = 8  # divides the number of tiles
SCORES = {"cpu": 1 << 21, "gpu": 1 << 26}  # of a tile, all chains together


@dataclass(frozen=True)
class Loaded:
    """What the search for coordinates starts from; arrays of rows lie on the device."""

    rows: Any
    family: Any
    cost: Any
    unit: float
    precision: float
    n_rows: int
    n_scores: int
    layout: Layout


def supported(problem: Problem) -> str:
    """Why the array engine cannot sample a problem, in words; empty if it can."""
    prior = problem.prior
    if not isinstance(prior, GaussianBelief):
        return 'it knows prior="gaussian" alone'
    one = prior.precision.ndim == 1 and bool(np.all(prior.precision == prior.precision[0]))
    if not one or np.any(prior.mean):
        return "it knows priors of one scale around zero alone, not the summary of earlier rows"
    if not hasattr(problem.source, "values") or not isinstance(problem.source.values, np.ndarray):
        return "it knows dense rows in memory alone"
    return ""


def load(problem: Problem, n_chains: int, dtype: Any, rng: np.random.Generator) -> Loaded:
    """Bring a problem to the device, its rows in an order that batches can be cut from."""
    assert isinstance(problem.prior, GaussianBelief)
    order = rng.permutation(problem.source.n_rows)
    layout = layout_for(problem, n_chains)
    size = layout.tile * layout.n_tiles
    unit = float(np.median(problem.cost))
    return Loaded(
        rows=_filled(_shuffled(problem, order, dtype), size),
        family=_family(problem, order, size),
        cost=_filled(jnp.asarray((problem.cost / unit)[order], jnp.float32), size),
        unit=unit,
        precision=float(problem.prior.precision[0]),
        n_rows=problem.source.n_rows,
        n_scores=problem.n_blocks,
        layout=layout,
    )


def layout_for(problem: Problem, n_chains: int) -> Layout:
    """Tiles of as many rows as have scores that fit; several are a number that batches divide."""
    platform = jax.devices()[0].platform
    room = SCORES.get(platform, SCORES["gpu"]) // (n_chains * problem.n_blocks)
    n_rows = problem.source.n_rows
    n_tiles = -(-n_rows // max(SMALLEST_TILE, room))
    if n_tiles > 1:
        n_tiles = -(-n_tiles // EVENLY) * EVENLY
    tile = -(-n_rows // n_tiles)
    return Layout(
        tile=-(-tile // SMALLEST_TILE) * SMALLEST_TILE,
        n_tiles=n_tiles,
        contrasts=problem.n_blocks > 1 and not problem.separate,
    )


def _filled(array: Any, size: int) -> Any:
    return jnp.pad(array, [(0, size - array.shape[0])] + [(0, 0)] * (array.ndim - 1))


def _family(problem: Problem, order: Any, size: int) -> Any:
    margin = jnp.float32(problem.margin)
    if problem.is_binary:
        return BinaryHinges(_filled(jnp.asarray(problem.sign[order], jnp.float32), size), margin)
    label = _filled(jnp.asarray(problem.label[order], jnp.int32), size)
    return (SeparateHinges if problem.separate else LargestHinges)(label, margin)


def _shuffled(problem: Problem, order: Any, dtype: Any) -> Any:
    pieces = [jnp.asarray(piece, jnp.float32).astype(dtype) for piece in _pieces(problem)]
    rows = jnp.concatenate(pieces) if len(pieces) > 1 else pieces[0]
    return jnp.take(rows, jnp.asarray(order), axis=0)


def _pieces(problem: Problem) -> Iterator[FloatArray]:
    """Rows, constant column included, many at a time."""
    step = max(1, PIECE // problem.source.n_columns)
    for start in range(0, problem.source.n_rows, step):
        index = np.arange(start, min(start + step, problem.source.n_rows))
        block = problem.source.take(index)
        yield np.asarray(as_dense(block, problem.source.n_columns), dtype=np.float32)
