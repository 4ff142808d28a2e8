"""Rows and labels of a problem brought to a device, shuffled, and filled up to whole tiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.families import BinaryHinges, LargestHinges, SeparateHinges
from bayesmargin.engines.priors import Gaussian, Laplace
from bayesmargin.engines.programs import program
from bayesmargin.engines.shapes import is_head
from bayesmargin.engines.streaming import HostRows, Reader, order_in_runs
from bayesmargin.engines.target import Layout
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.rows.blocks import as_dense
from bayesmargin.targets.problem import Problem

PIECE = 1 << 26  # numbers of the rows that travel to the device together
STREAMED = 1 << 24  # numbers of a tile of rows that stay with the host
SMALLEST_TILE = 64
MANY_ROWS = 300_000  # narrow ones, for which the vendor's library is slow: 50,000 are not, 10^7 are
EVENLY = 8  # divides the number of tiles
SCORES = {"cpu": 1 << 21, "gpu": 1 << 26}  # of a tile, all chains together


@dataclass(frozen=True)
class Loaded:
    """What the search for coordinates starts from; arrays of rows lie on the device."""

    rows: Any
    family: Any
    cost: Any
    unit: float
    prior: Any
    n_rows: int
    n_scores: int
    layout: Layout

    @property
    def n_columns(self) -> int:
        """Of the rows, the constant one included."""
        return int(self.rows.shape[1])


def supported(problem: Problem) -> str:
    """Why the array engine cannot sample a problem, in words; empty if it can."""
    prior = problem.prior
    if not isinstance(prior, (GaussianBelief, LaplaceBelief)):
        return "it knows Gaussian and Laplace priors alone"
    scales = prior.precision if isinstance(prior, GaussianBelief) else prior.scale
    one = scales.ndim == 1 and bool(np.all(scales == scales[0]))
    if not one or (isinstance(prior, GaussianBelief) and np.any(prior.mean)):
        return "it knows priors of one scale around zero alone, not the summary of earlier rows"
    if not hasattr(problem.source, "values") or not isinstance(problem.source.values, np.ndarray):
        return "it knows dense rows in memory alone"
    return ""


def described(problem: Problem, n_chains: int, dtype: Any, reader: Reader | None = None) -> Loaded:
    """The shapes of what :func:`load` will bring, for what is compiled on the way."""
    layout = layout_for(problem, n_chains, reader is not None)
    size = layout.tile * layout.n_tiles

    def rows(dtype: Any, *shape: int) -> Any:
        return jax.ShapeDtypeStruct((size, *shape), dtype)

    facts = rows(jnp.float32 if problem.is_binary else jnp.int32)
    return Loaded(
        rows=HostRows(reader) if reader else rows(dtype, problem.source.n_columns),
        family=_kind(problem)(facts, jax.ShapeDtypeStruct((), jnp.float32)),
        cost=rows(jnp.float32),
        unit=1.0,
        prior=_prior(problem),
        n_rows=problem.source.n_rows,
        n_scores=problem.n_blocks,
        layout=layout,
    )


def reader_of(problem: Problem, n_chains: int, dtype: Any, rng: np.random.Generator) -> Reader:
    """Who brings the tiles of rows that stay with the host."""
    layout = layout_for(problem, n_chains, streamed=True)
    order = order_in_runs(problem.source.n_rows, rng)
    return Reader(problem.source, order, layout.tile * layout.n_tiles, dtype)


def load(
    problem: Problem,
    n_chains: int,
    dtype: Any,
    rng: np.random.Generator,
    reader: Reader | None = None,
) -> Loaded:
    """Bring a problem to the device, its rows in an order that batches can be cut from.

    With a reader they stay where they are.
    """
    order = reader.order if reader else rng.permutation(problem.source.n_rows)
    layout = layout_for(problem, n_chains, reader is not None)
    size = layout.tile * layout.n_tiles
    unit = float(np.median(problem.cost))
    return Loaded(
        rows=HostRows(reader) if reader else _shuffled(problem, order, size, dtype),
        family=_family(problem, order, size),
        cost=_filled((problem.cost / unit)[order].astype(np.float32), size),
        unit=unit,
        prior=_prior(problem),
        n_rows=problem.source.n_rows,
        n_scores=problem.n_blocks,
        layout=layout,
    )


def layout_for(problem: Problem, n_chains: int, streamed: bool = False) -> Layout:
    """Tiles of as many rows as have scores that fit; several are a number that batches divide.

    Of rows that are streamed a tile is no more than a piece that travels.
    """
    platform = jax.devices()[0].platform
    room = SCORES.get(platform, SCORES["gpu"]) // (n_chains * problem.n_blocks)
    n_rows = problem.source.n_rows
    if streamed:
        room = min(room, STREAMED // problem.source.n_columns)
    n_tiles = -(-n_rows // max(SMALLEST_TILE, room))
    if n_tiles > 1 or streamed:
        n_tiles = -(-n_tiles // EVENLY) * EVENLY
    tile = -(-n_rows // n_tiles)
    return Layout(
        tile=-(-tile // SMALLEST_TILE) * SMALLEST_TILE,
        n_tiles=n_tiles,
        contrasts=problem.n_blocks > 1
        and not problem.separate
        and isinstance(problem.prior, GaussianBelief),
        vendor=is_head(problem.n_blocks, problem.source.n_columns) or n_rows < MANY_ROWS,
    )


def _filled(array: Any, size: int) -> Any:
    """An array of facts about rows on the device, zeros behind them."""
    return jnp.asarray(np.pad(array, (0, size - len(array))))


def _kind(problem: Problem) -> type:
    if problem.is_binary:
        return BinaryHinges
    return SeparateHinges if problem.separate else LargestHinges


def _family(problem: Problem, order: Any, size: int) -> Any:
    facts = problem.sign if problem.is_binary else problem.label
    dtype = np.float32 if problem.is_binary else np.int32
    margin = jnp.asarray(np.float32(problem.margin))
    return _kind(problem)(_filled(facts[order].astype(dtype), size), margin)


@program(donate_argnums=0)
def _put(rows: Any, piece: Any, place: Any) -> Any:
    """Rows with a piece of them at its places; those beyond the last row are dropped."""
    return rows.at[place].set(piece.astype(rows.dtype), mode="drop", unique_indices=True)


def _shuffled(problem: Problem, order: Any, size: int, dtype: Any) -> Any:
    """All rows on the device in a new order, brought there piece by piece."""
    n_rows, n_columns = problem.source.n_rows, problem.source.n_columns
    rows = jnp.zeros((size, n_columns), dtype)
    place = np.empty(n_rows, np.int32)
    place[order] = np.arange(n_rows, dtype=np.int32)
    step, first = min(n_rows, _step(problem)), 0
    for piece in _pieces(problem):
        there = place[first : first + len(piece)]
        first += len(piece)
        if len(piece) < step:  # the last piece, in the shape of the others
            beyond = size + np.arange(step - len(piece), dtype=np.int32)
            piece = np.pad(piece, ((0, step - len(piece)), (0, 0)))
            there = np.concatenate([there, beyond])
        rows = _put(rows, jnp.asarray(piece), jnp.asarray(there))
    return rows


def _prior(problem: Problem) -> Gaussian | Laplace:
    """The prior of weights as they came; for the rotated ones its basis is still to be found."""
    if isinstance(problem.prior, GaussianBelief):
        return Gaussian(np.float32(problem.prior.precision[0]))
    assert isinstance(problem.prior, LaplaceBelief)
    return Laplace(np.float32(1.0 / problem.prior.scale[0]), None)


def _step(problem: Problem) -> int:
    return max(1, PIECE // problem.source.n_columns)


def _pieces(problem: Problem) -> Iterator[FloatArray]:
    """Rows, constant column included, many at a time."""
    step = _step(problem)
    for start in range(0, problem.source.n_rows, step):
        index = np.arange(start, min(start + step, problem.source.n_rows))
        block = problem.source.take(index)
        yield np.asarray(as_dense(block, problem.source.n_columns), dtype=np.float32)
