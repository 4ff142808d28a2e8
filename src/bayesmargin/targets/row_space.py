r"""Few rows of many columns: the posterior lives in the space that the rows span.

With a prior :math:`w \sim N(0, diag(s)^2)` write :math:`w = s \odot v`. The hinges see :math:`v`
through the rows :math:`\tilde x_d = s \odot x_d` only. With an orthonormal basis :math:`V` of their
span,

.. math:: v = V a + (I - V V^T)\,\nu,

the posterior of :math:`a` is that of the same model with the rows :math:`V^T\tilde x_d` and the
prior :math:`N(0, I)`, and :math:`\nu \sim N(0, I)` is independent of it and of the data. That is
exact, and a problem of 60 rows and 7,000 columns becomes one of 60 columns.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from bayesmargin.foundation.storage import Moments, draw_array
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.layout import SparseRows
from bayesmargin.rows.source import DenseSource
from bayesmargin.rows.sparse import DENSE_COLUMNS
from bayesmargin.targets.problem import Problem

MAX_ROWS = 600  # rows times weight vectors up to which a full covariance is quickly found
ALIKE = 1e-8  # share of its largest eigenvalue above which a Gram matrix has no direction lost
LIFTED = 1 << 19  # numbers that are lifted together: one reading of the rows serves them all


class RowSpace:
    """A problem in the span of its rows, and the way back.

    The basis is ``span.T @ mixing``: products of the rows and a small matrix. Written out, that of
    some hundred sparse rows would be hundreds of times larger than the rows.
    """

    def __init__(self, problem: Problem, scale: FloatArray) -> None:
        self.scale = scale
        self.n_blocks = problem.n_blocks
        rows = _matrix(problem.source.take(np.arange(problem.source.n_rows)), scale.size)
        rows = rows.multiply(scale).tocsr() if sparse.issparse(rows) else rows * scale
        self.span, self.mixing, inside = _spanned(rows)
        size = inside.shape[1] * self.n_blocks
        self.problem = replace(
            problem,
            source=DenseSource(inside, intercept=False),
            prior=GaussianBelief(np.zeros(size), np.ones(size)),
        )

    @property
    def basis(self) -> FloatArray:
        """Orthonormal basis of what the rows span, as columns."""
        return np.asarray(self.span.T @ self.mixing)

    def lift(
        self, draws: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
        """Draws (chain, draw, weight) of the whole problem, and their mean and variance."""
        n_chains, n_draws, _ = draws.shape
        size = self.n_blocks * self.scale.size
        result, moments = draw_array((n_chains, n_draws, size)), Moments(size)
        together = max(1, LIFTED // size)
        for chain in range(n_chains):
            for first in range(0, n_draws, together):
                part = slice(first, min(first + together, n_draws))
                weights = self._lifted(draws[chain, part], rng)
                result[chain, part] = weights
                for one in weights:
                    moments.add(one)
        return result, (moments.mean, moments.variance())

    def _lifted(self, draws: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Some draws in the span, with draws of the prior elsewhere, as weights."""
        outside = rng.standard_normal((len(draws) * self.n_blocks, self.scale.size))
        inside = draws.reshape(len(outside), -1) - (self.span @ outside.T).T @ self.mixing
        outside += (self.span.T @ (self.mixing @ inside.T)).T
        outside *= self.scale
        return outside.reshape(len(draws), -1)


def _spanned(rows: Any) -> tuple[Any, FloatArray, FloatArray]:
    """``span`` and ``mixing``, whose product is the basis, and the rows in that basis.

    The Gram matrix is small and quick to factorise, but squares what it is given: beside one column
    in the millions it keeps no digit of all the others. Equal and empty rows have no part in it.
    """
    distinct, place = _distinct(rows)
    span = rows[distinct]
    gram = span @ span.T
    values, vectors = linalg.eigh(gram.toarray() if sparse.issparse(gram) else gram)
    if len(distinct) and values[0] > ALIKE * values[-1]:
        root = np.sqrt(values)
        inside = np.vstack([vectors * root, np.zeros(len(root))])
        return span, vectors / root, np.ascontiguousarray(inside[place])
    columns = rows.T.toarray() if sparse.issparse(rows) else rows.T
    basis, triangle = linalg.qr(columns, mode="economic")
    return basis.T, np.eye(len(triangle)), np.ascontiguousarray(triangle.T)


def _distinct(rows: Any) -> tuple[IntArray, IntArray]:
    """First of every kind of row that is not zero, and the kind of every row (-1: zero)."""
    kinds: dict[bytes, int] = {}
    first: list[int] = []
    place = np.full(rows.shape[0], -1)
    for i in range(rows.shape[0]):
        if sparse.issparse(rows):
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            key, empty = (
                rows.indices[part].tobytes() + rows.data[part].tobytes(),
                part.stop == part.start,
            )
        else:
            key, empty = rows[i].tobytes(), not rows[i].any()
        if empty:
            continue
        if key not in kinds:
            kinds[key] = len(first)
            first.append(i)
        place[i] = kinds[key]
    return np.array(first, dtype=np.int64), place


def row_space(problem: Problem) -> RowSpace | None:
    """The problem in the span of its rows, where that is exact and smaller; else None."""
    prior = problem.prior
    if not has_row_space(problem) or not isinstance(prior, GaussianBelief):
        return None
    return RowSpace(problem, 1.0 / np.sqrt(prior.precision.reshape(problem.n_blocks, -1)[0]))


def has_row_space(problem: Problem) -> bool:
    """Whether the span of the rows gives an exact and smaller problem."""
    source, prior = problem.source, problem.prior
    if source.n_rows * problem.n_blocks > MAX_ROWS or source.n_columns <= DENSE_COLUMNS:
        return False
    if not isinstance(prior, GaussianBelief) or prior.precision.ndim != 1 or np.any(prior.mean):
        return False
    precision = prior.precision.reshape(problem.n_blocks, -1)
    return not (problem.separate or np.any(precision != precision[0]))


def _matrix(values: Any, n_columns: int) -> Any:
    """Rows as a matrix, dense or CSR, the constant column included."""
    if not isinstance(values, SparseRows):
        return np.asarray(values, dtype=float)
    spans = zip(values.begin, values.end, strict=True)
    index = np.concatenate([np.arange(begin, end) for begin, end in spans] or [np.empty(0, int)])
    sizes = values.end - values.begin
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    parts = (values.values[index].astype(float), values.indices[index], bounds)
    matrix = sparse.csr_array(parts, shape=(len(sizes), n_columns - values.constant))
    if not values.constant:
        return matrix
    return sparse.hstack([matrix, np.ones((len(sizes), 1))], format="csr")
