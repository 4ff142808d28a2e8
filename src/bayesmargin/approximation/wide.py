r"""The anchor of a wide problem: a diagonal covariance with a few directions put right.

With thousands of features a full covariance is out of reach. The Gaussian here has standard
deviations :math:`s_j = H_{jj}^{-1/2}` from the smoothed Hessian

.. math:: H = \Lambda_0 + \sum_d \omega_d\,x_d x_d^T, \qquad
          \omega_d = c_d\,\varphi(\mu_d/\sigma_d)/\sigma_d, \qquad
          \sigma_d^2 = \sum_j s_j^2 x_{dj}^2,

and a mean that minimises the expected energy for those :math:`\sigma`; the two are found in turn.
What a diagonal misses is a handful of directions: stiff ones along which many features pull
together (the length of a document), and soft ones along which they make up for one another (the
intercept against all words). They are the eigenvectors :math:`q_i` at both ends of the spectrum of
:math:`A = diag(s)\,H\,diag(s)`, and the coordinates
:math:`w = m + s \odot (u + \sum_i (\lambda_i^{-1/2} - 1)\, q_i q_i^T u)` undo them.

More than two classes use the softmax-smoothed hinge of
:mod:`bayesmargin.approximation.multiclass`, or a binary one each
(:mod:`bayesmargin.approximation.wide_separate`), and the diagonal alone, except that the intercepts
follow the mean row (:class:`bayesmargin.targets.coordinates.Sheared`). Their weights are
*interleaved* (:mod:`bayesmargin.approximation.wide_order`).
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.special import ndtr

from bayesmargin.approximation.columns import minimise_columns
from bayesmargin.approximation.wide_multiclass import TEMPERATURE, smoothed_energy, softmax_block
from bayesmargin.approximation.wide_order import by_class, interleaved, reordered
from bayesmargin.approximation.wide_separate import separate_block, separate_deviations
from bayesmargin.foundation.observers import tell
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import normal_density
from bayesmargin.rows.blocks import (
    block_products,
    block_scores,
    block_square_sum,
    block_sum,
    one_blas_thread,
)
from bayesmargin.targets.problem import Problem

ROUNDS = 5
SETTLED = 0.02  # mean change of the log standard deviations
PASSES = 20  # over the rows a round where classes are separate
FALL = 0.1  # of the energy of every class that is not worth another pass
DIRECTIONS = 8  # half of them stiff, half soft
LANCZOS = 20  # restarts, each of some thirty passes over the rows
WIDEST = 1e3  # deviation of a column's part in the scores that a search may begin with
STIFF, SOFT = 1.5, 0.6  # eigenvalues of the scaled Hessian beyond which undoing them pays


@dataclass(frozen=True)
class WideAnchor:
    """Mean, standard deviations, and odd directions with their eigenvalues.

    All are in the order of the target: interleaved when there are more than two classes.
    ``deviation`` is that of each row's score, of shape (row, class) where classes are separate.
    """

    mean: FloatArray
    scale: FloatArray
    directions: FloatArray
    eigenvalues: FloatArray
    deviation: FloatArray
    passes: int
    typical: FloatArray | None = None
    """The mean row, where there are more than two classes and they have intercepts."""


class Passes:
    """The passes over the rows that fitting the anchor takes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.prior = reordered(problem.prior, problem.n_blocks) if problem.separate else None
        self.count = 0

    def column_sizes(self) -> FloatArray:
        """Root mean square of every column."""
        squares, ones = np.zeros(self.problem.source.n_columns), np.ones(self.problem.source.n_rows)
        for span, block in self.problem.source.blocks():
            block_square_sum(block, ones[span], squares)
        self.count += 1
        return np.sqrt(squares / self.problem.source.n_rows)

    def deviations(self, scale: FloatArray) -> FloatArray:
        """Standard deviation of each row's score; the mean over classes when there are several."""
        if self.problem.separate:
            self.count += 1
            return separate_deviations(self.problem, scale)
        result = np.empty(self.problem.source.n_rows)
        blocks = self.problem.n_blocks
        own = np.sqrt((scale.reshape(-1, blocks) ** 2).mean(axis=1))
        nothing = np.zeros(self.problem.source.n_columns)
        for span, block in self.problem.source.blocks():
            result[span] = block_scores(block, nothing, own)[1]
        self.count += 1
        return np.maximum(result, 1e-300)

    def energy(
        self, mean: FloatArray, scale: FloatArray, deviation: FloatArray, curvature: bool = False
    ) -> tuple[float, FloatArray, FloatArray]:
        """Expected energy at ``mean``: value, gradient, and diagonal of the Hessian if wanted."""
        problem, self.count = self.problem, self.count + 1
        gradient, diagonal = np.zeros_like(mean), np.zeros_like(mean)
        bends = diagonal if curvature else None
        if self.prior is not None:
            value = smoothed_energy(separate_block, problem, mean, deviation, gradient, bends)
            extra, slope, own = self.prior.expectation(mean, scale**2)
            gradient += slope
            diagonal += own
            return value + extra, gradient, diagonal
        if problem.is_binary:
            value = self._hinges(mean, deviation, gradient, bends)
        else:
            width = TEMPERATURE * deviation
            value = smoothed_energy(softmax_block, problem, mean, width, gradient, bends)
        blocks = problem.n_blocks
        extra, slope, own = problem.prior.expectation(
            by_class(mean, blocks), by_class(scale**2, blocks)
        )
        own = own if own.ndim == 1 else np.diag(own)
        gradient += interleaved(slope, blocks)
        diagonal += interleaved(np.broadcast_to(own, mean.shape), blocks)
        return value + extra, gradient, diagonal

    def _hinges(
        self,
        mean: FloatArray,
        deviation: FloatArray,
        gradient: FloatArray,
        diagonal: FloatArray | None,
    ) -> float:
        problem, value = self.problem, 0.0
        for span, block in problem.source.blocks():
            cost, width = problem.cost[span], deviation[span]
            slack = problem.slack(span, block_products(block, mean))
            share, density = ndtr(slack / width), normal_density(slack / width)
            value += float(cost @ (slack * share + width * density))
            block_sum(block, problem.forces(span, share), gradient)
            if diagonal is not None:
                block_square_sum(block, cost * density / width, diagonal)
        return value + float(problem.tilt @ mean)

    def mean_row(self) -> FloatArray:
        """Mean of the rows, weighted by their costs."""
        problem, total = self.problem, np.zeros(self.problem.source.n_columns)
        for span, block in problem.source.blocks():
            block_sum(block, problem.cost[span], total)
        self.count += 1
        return total / problem.cost.sum()

    def curvature_of_rows(self, mean: FloatArray, deviation: FloatArray) -> FloatArray:
        r"""Weight :math:`\omega_d` of each row in the smoothed Hessian (two classes)."""
        problem, result = self.problem, np.empty(self.problem.source.n_rows)
        for span, block in problem.source.blocks():
            slack = problem.slack(span, block_products(block, mean))
            ratio = slack / deviation[span]
            result[span] = problem.cost[span] * normal_density(ratio) / deviation[span]
        self.count += 1
        return result


def fit_wide_anchor(problem: Problem, rng: np.random.Generator) -> WideAnchor:
    """Diagonal Gaussian near the posterior, with its stiff and soft directions."""
    with one_blas_thread():  # vectors only: threads would wait longer than they work
        return _fitted(problem, rng)


def _fitted(problem: Problem, rng: np.random.Generator) -> WideAnchor:
    passes = Passes(problem)
    size = problem.n_weights
    mean: FloatArray = np.zeros(size)
    start = problem.prior.expectation(mean, np.ones(size))[2]
    start = start if start.ndim == 1 else np.diag(start)
    scale = interleaved(1.0 / np.sqrt(np.broadcast_to(start, (size,))), problem.n_blocks)
    columns = np.repeat(passes.column_sizes(), problem.n_blocks)
    # So wide a prior makes scores so large that the search for the mean ends anywhere.
    scale = np.where(scale * columns > WIDEST, 1.0 / np.maximum(columns, 1e-300), scale)
    deviation = passes.deviations(scale)
    if problem.separate:
        scale = 1.0 / np.sqrt(passes.energy(mean, scale, deviation, curvature=True)[2])
    for _ in range(ROUNDS):
        mean, moved = _lowest(passes, mean, scale, deviation)
        _, _, diagonal = passes.energy(mean, scale, deviation, curvature=True)
        change = float(np.mean(np.abs(np.log(diagonal * scale**2))))
        scale = 1.0 / np.sqrt(diagonal)
        deviation = passes.deviations(scale)
        if change < SETTLED and moved < 0.1:
            break
    directions: FloatArray = np.zeros((0, size))
    eigenvalues: FloatArray = np.zeros(0)
    if problem.is_binary:
        directions, eigenvalues = _odd(passes, mean, scale, deviation, rng)
        deviation = _corrected(problem, scale, deviation, directions, eigenvalues)
        mean, _ = _lowest(passes, mean, scale, deviation)
    leaning = problem.source.intercept and not problem.is_binary
    typical = passes.mean_row() if leaning else None
    return WideAnchor(mean, scale, directions, eigenvalues, deviation, passes.count, typical)


def _lowest(
    passes: Passes, mean: FloatArray, scale: FloatArray, deviation: FloatArray
) -> tuple[FloatArray, float]:
    """Mean of least expected energy for given deviations, and how far it moved (rms, in sd)."""
    if passes.problem.separate:
        return _lowest_of_each(passes, mean, scale, deviation)

    def objective(position: FloatArray) -> tuple[float, FloatArray]:
        value, gradient, _ = passes.energy(mean + scale * position, scale, deviation)
        return value, scale * gradient

    large = mean.size > 10**6
    options = {"maxiter": 12 if large else 30, "maxcor": 4 if large else 10}
    found = optimize.minimize(
        objective,
        np.zeros_like(mean),
        jac=True,
        method="L-BFGS-B",
        options=options,
        callback=lambda position: tell(mean + scale * position),
    )
    return mean + scale * found.x, float(np.sqrt(np.mean(found.x**2)))


def _lowest_of_each(
    passes: Passes, mean: FloatArray, scale: FloatArray, deviation: FloatArray
) -> tuple[FloatArray, float]:
    """The same for separate classes, each with steps of its own; the largest move of a class."""
    shape = (-1, passes.problem.n_classes)

    def gradient_at(position: FloatArray) -> FloatArray:
        there = mean + scale * position.ravel()
        tell(there)
        _, gradient, _ = passes.energy(there, scale, deviation)
        gradient *= scale
        return gradient.reshape(shape)

    start = np.zeros_like(mean).reshape(shape)
    found = minimise_columns(gradient_at, start, PASSES, FALL)
    moved = np.sqrt(np.mean(found**2, axis=0).max())
    return mean + scale * found.ravel(), float(moved)


def _odd(
    passes: Passes,
    mean: FloatArray,
    scale: FloatArray,
    deviation: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors (as rows) at both ends of the scaled Hessian's spectrum, and eigenvalues."""
    problem = passes.problem
    weight = passes.curvature_of_rows(mean, deviation)
    own = problem.prior.expectation(mean, scale**2)[2]
    own = own if own.ndim == 1 else np.diag(own)

    def times(vector: FloatArray) -> FloatArray:
        scaled, result = scale * vector.ravel(), np.zeros_like(mean)
        for span, block in problem.source.blocks():
            block_sum(block, weight[span] * block_products(block, scaled), result)
        passes.count += 1
        return scale * (result + own * scaled)

    operator = LinearOperator((mean.size, mean.size), matvec=times, dtype=float)
    try:
        values, vectors = eigsh(
            operator,
            k=min(DIRECTIONS, mean.size - 2),
            which="BE",
            tol=0.02,
            maxiter=LANCZOS,
            v0=rng.standard_normal(mean.size),
        )
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    odd = (values > STIFF) | (values < SOFT)
    return np.ascontiguousarray(vectors[:, odd].T), values[odd]


def _corrected(
    problem: Problem,
    scale: FloatArray,
    deviation: FloatArray,
    directions: FloatArray,
    eigenvalues: FloatArray,
) -> FloatArray:
    """Standard deviations of the rows' scores once the odd directions are put right."""
    variance = deviation**2
    for direction, eigenvalue in zip(directions, eigenvalues, strict=True):
        for span, block in problem.source.blocks():
            along = block_products(block, scale * direction)
            variance[span] -= (1.0 - 1.0 / eigenvalue) * along**2
    return np.maximum(np.sqrt(np.maximum(variance, 1e-6 * deviation**2)), 1e-300)
