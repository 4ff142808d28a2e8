"""Memory that a fit takes on a device, stated before it starts."""

from typing import Any

import jax
import jax.numpy as jnp

from bayesmargin.engines.crew import draws_at_home
from bayesmargin.engines.loading import PIECE, layout_for
from bayesmargin.targets.problem import Problem

STATES = 16  # arrays of the size of all positions that a transition, its draws and moments hold
TILES = 8  # of rows that are streamed, on their way and in use
SCORES = 8  # arrays of the size of the scores of a tile
GIGABYTE = 1e9


def needed(problem: Problem, n_chains: int, dtype: Any, streamed: bool = False) -> float:
    """Bytes, about, of a fit at its peak; of rows that are streamed some tiles are there."""
    layout = layout_for(problem, n_chains, streamed)
    n_scores, n_columns = problem.n_blocks, problem.source.n_columns
    n_rows = layout.tile * layout.n_tiles
    rows = float(n_rows) * n_columns * jnp.dtype(dtype).itemsize
    arriving = 4.0 * min(PIECE, n_rows * n_columns)
    if streamed:
        rows, arriving = 4.0 * TILES * layout.tile * n_columns, 0.0
    facts = float(n_rows) * (16 + (n_scores if problem.separate else 0))
    weights = 4.0 * n_chains * n_scores * n_columns
    kept = weights * (1 + draws_at_home(n_chains * n_scores * n_columns))
    scores = 4.0 * SCORES * layout.tile * n_chains * n_scores
    return 2.0 * rows + arriving + facts + STATES * weights + kept + scores


def require_memory(problem: Problem, n_chains: int, dtype: Any) -> tuple[float, bool]:
    """Gigabytes that a fit takes, and whether its rows must stay with the host.

    An error says what to change where even then there are fewer.
    """
    wanted = needed(problem, n_chains, dtype) / GIGABYTE
    told = jax.devices()[0].memory_stats() or {}  # of a CPU nothing is told
    there = told.get("bytes_limit", float("inf")) / GIGABYTE
    if wanted <= there:
        return wanted, False
    wanted = needed(problem, n_chains, dtype, streamed=True) / GIGABYTE
    if wanted > there:
        raise ValueError(
            f"the fit would take about {wanted:.1f} GB on a device that offers {there:.1f} GB: "
            f"even if rows stay with the host: choose fewer chains than n_chains={n_chains}, pass "
            'fewer rows, or use engine="numba"'
        )
    return wanted, True
