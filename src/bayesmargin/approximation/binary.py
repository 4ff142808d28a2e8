r"""The anchor of a binary problem: the Gaussian closest to the posterior.

Among Gaussians :math:`q = N(m, S)` it minimises :math:`KL(q\,\|\,p)`. Under :math:`q` the slack of
row :math:`d` is normal with mean :math:`\mu_d = \ell - y_d x_d \cdot m` and variance
:math:`\sigma_d^2 = x_d^T S x_d`, so everything has a closed form. With :math:`t = \mu/\sigma`,

.. math:: E(\zeta)_+ = \mu\Phi(t) + \sigma\varphi(t), \quad
          \nabla_m = -c\sum_d y_d \Phi(t_d) x_d, \quad
          E[\nabla^2 U] = \Lambda_0 + c \sum_d \frac{\varphi(t_d)}{\sigma_d} x_d x_d^T,

and at the optimum :math:`S^{-1} = E[\nabla^2 U]`, :math:`E[\nabla U] = 0`. One object thus gives
what a sampler needs: a centre near the posterior mean, the metric, the state of each row for the
control variates, and through :math:`\Phi(-|t_d|)` the chance that the row changes it.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.special import ndtr

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.observers import tell
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, normal_density
from bayesmargin.rows.blocks import block_scores, block_sum
from bayesmargin.rows.sampling import sampled
from bayesmargin.rows.source import DenseSource
from bayesmargin.targets.problem import Problem

MAX_ITERATIONS = 60
TOLERANCE = 0.02  # posterior standard deviations, far below what the sampler corrects anyway
CERTAIN = 8.5  # standard deviations beyond which a row's state is not in doubt (Phi < 1e-16)
CLOSE = 0.3  # standard deviations of a step whose outcome needs no pass to be believed
FLAT = 1e-100  # precision of a weight below which an energy counts as straight along it
HUGE = 1e7  # root mean square of a column beyond which unit weights are no start
PARTS = (5_000, 50_000, 200_000)  # rows on which problems of four times as many are solved first

Energy = tuple[float, FloatArray, FloatArray]
"""Expected energy under a Gaussian: value, gradient, Hessian."""


class SlackMoments:
    r"""Mean of every row's slack under a Gaussian, and the deviation where it matters.

    The deviation :math:`\sigma_d = \|F^T x_d\|` costs a matrix product. The bound
    :math:`\|F^T E^{-1}\|\,\|E x_d\|`, with :math:`E` the posterior standard deviations, costs an
    inner product and already shows for most rows of a large problem that their kink is out of
    reach. Without ``certain`` all rows are in doubt.
    """

    def __init__(
        self, problem: Problem, anchor: GaussianAnchor, certain: float | None = CERTAIN
    ) -> None:
        self.problem, self.anchor, self.certain = problem, anchor, certain
        self.scale = np.sqrt(anchor.variances())
        self.norm = 1.0
        if anchor.factor.ndim == 2:
            self.norm = float(np.linalg.norm(anchor.factor / self.scale[:, None], 2))

    def __call__(
        self, span: slice, values: FloatArray
    ) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
        """Mean slack of a block; then indices, values and deviations of the rows in doubt."""
        factor = self.anchor.factor
        scores, norms = block_scores(values, self.anchor.mean, self.scale)
        centre = self.problem.slack(span, scores)
        near = np.arange(len(centre))
        if self.certain is not None:
            near = np.flatnonzero(np.abs(centre) <= self.certain * self.norm * norms)
        chosen = values[near]
        deviation = norms[near]
        if factor.ndim == 2:
            spread = chosen @ factor
            deviation = np.sqrt(np.einsum("ij,ij->i", spread, spread))
        return centre, near, chosen, np.maximum(deviation, 1e-300)


def expected_hinges(problem: Problem, anchor: GaussianAnchor) -> Energy:
    """Expected energy of the hinges alone: a sum over rows, wherever they are."""
    size = anchor.mean.shape[0]
    value, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
    moments = SlackMoments(problem, anchor)
    for span, values in problem.source.blocks():
        centre, near, chosen, deviation = moments(span, values)
        ratio = centre[near] / deviation
        active, density = ndtr(ratio), normal_density(ratio)
        cost = problem.cost[span]
        share = (centre > 0.0).astype(float)
        share[near] = active
        value += float(cost @ (centre * share)) + float(cost[near] @ (deviation * density))
        block_sum(values, problem.forces(span, share), gradient)
        weighted = (
            chosen.astype(float, copy=False) * np.sqrt(cost[near] * density / deviation)[:, None]
        )
        hessian += weighted.T @ weighted
    return value + float(problem.tilt @ anchor.mean), gradient, hessian


def with_prior(prior: Belief, anchor: GaussianAnchor, hinges: Energy) -> Energy:
    """Expected energy of hinges and prior."""
    extra, slope, curvature = prior.expectation(anchor.mean, anchor.variances())
    own = np.diag(curvature) if curvature.ndim == 1 else curvature
    return hinges[0] + extra, hinges[1] + slope, hinges[2] + own


def inverse_factor(precision: FloatArray) -> tuple[FloatArray, float]:
    """Matrix ``F`` with ``F @ F.T = precision^-1``, and the log determinant of ``precision``.

    The matrix is scaled to unit diagonal first: features may differ by many orders of magnitude.
    One that is not positive definite is a ``LinAlgError``.
    """
    diagonal = np.diag(precision)
    if not diagonal.min() > 0.0:
        raise linalg.LinAlgError(f"a precision of {diagonal.min():.3g} is not positive")
    scale = 1.0 / np.sqrt(diagonal)
    unit = precision * scale[:, None] * scale[None, :]
    lower = linalg.cholesky(unit + 1e-12 * np.eye(len(scale)), lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(len(scale)), lower=True)
    log_det = 2.0 * float(np.sum(np.log(np.diag(lower))) - np.sum(np.log(scale)))
    return scale[:, None] * inverse.T, log_det


def fit_binary_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian closest to the posterior.

    A large problem is first solved on random parts of its rows, each of which stands for several:
    that brings the mean within a few posterior standard deviations, from where two or three passes
    over all rows finish.
    """
    anchor, n_rows = None, problem.source.n_rows
    memory = getattr(problem.source, "memory", np.inf)  # of rows in files
    sizes = part_sizes(n_rows, problem.source.n_columns, memory)
    if sizes:
        index, rows = sampled(problem.source, sizes[-1], rng)
    for size in sizes:
        some = np.sort(rng.choice(index.size, size, replace=False, shuffle=False))
        some_rows = DenseSource(rows[some], intercept=False)
        part = problem.part(some_rows, index[some], n_rows / size)
        anchor = _on_rows(part, anchor)
    return _on_rows(problem, anchor)


def part_sizes(n_rows: int, n_columns: int, memory: float = np.inf) -> list[int]:
    """Growing numbers of rows that give a start; none where all rows are as quick.

    The largest, in single precision, takes no more than ``memory`` bytes.
    """
    sizes = sorted({max(size, 20 * n_columns) for size in PARTS})
    return [size for size in sizes if 4 * size <= n_rows and 4 * size * n_columns <= memory]


def _on_rows(problem: Problem, start: GaussianAnchor | None = None) -> GaussianAnchor:
    def energy(anchor: GaussianAnchor) -> Energy:
        return with_prior(problem.prior, anchor, expected_hinges(problem, anchor))

    if start is not None:
        return newton(energy, problem.n_weights, start)
    broad = suited(column_squares(problem), problem.source.n_rows)
    return newton(energy, problem.n_weights, broad=broad)


def suited(squares: FloatArray, n_rows: int) -> FloatArray:
    """Deviations of the weights of a vector that a search may start with, rather broad ones.

    They are ones, unless a column is so large that a step from there leads out of reach of all
    kinks, from where steps lead nowhere. Then no column makes scores of more than about one.
    ``squares`` are those of :func:`column_squares`.
    """
    size = np.sqrt(squares / n_rows)
    return np.ones_like(size) if size.max() < HUGE else 1.0 / np.maximum(size, 1.0)


def column_squares(problem: Problem) -> FloatArray:
    """Sum of the squares of every column."""
    total = np.zeros(problem.source.n_columns)
    for _, values in problem.source.blocks():
        total += np.einsum("ij,ij->j", values, values, dtype=float)
    return total


def newton(
    energy: Callable[[GaussianAnchor], Energy],
    size: int,
    start: GaussianAnchor | None = None,
    broad: FloatArray | None = None,
) -> GaussianAnchor:
    """Newton steps on the mean and the precision; one that raises the divergence is shortened.

    ``energy`` is all that touches the rows, once a step. From a ``start`` on some of the rows the
    last step is taken without a look: what a Newton step of less than :data:`CLOSE` leaves is of
    second order. Without one the first Gaussian has the deviations ``broad``, or ones.
    """
    broad = np.ones(size) if broad is None else broad
    anchor = start or GaussianAnchor(np.zeros(size), np.diag(broad))
    precision = linalg.inv(start.factor @ start.factor.T) if start else np.diag(broad**-2.0)
    log_det = float(np.linalg.slogdet(precision)[1])
    value, gradient, hessian = energy(anchor)
    divergence = value + 0.5 * log_det
    iterations = 0
    for iterations in range(1, MAX_ITERATIONS + 1):
        length = 1.0
        while True:
            mixed = (1.0 - length) * precision + length * hessian
            if length == 1.0 and np.diag(mixed).min() < FLAT:
                # Far out a Laplace prior is straight, and so are hinges beyond all of their kinks.
                length = 0.5
                continue
            factor, log_det = inverse_factor(mixed)
            move = -factor @ (factor.T @ gradient)
            proposal = GaussianAnchor(anchor.mean + length * move, factor, iterations)
            step = float(np.sqrt(max(0.0, -float(move @ gradient))))
            if start is not None and length == 1.0 and step < CLOSE * np.sqrt(size):
                tell(proposal.mean)
                return proposal
            if start is None and iterations == 1:
                # From the broad start the first step is that of linear discriminant analysis:
                # good before the pass that judges it. Later ones may be too long.
                tell(proposal.mean)
            value, new_gradient, new_hessian = energy(proposal)
            new_divergence = value + 0.5 * log_det
            if new_divergence <= divergence + 1e-6 * (1.0 + abs(divergence)) or length < 1e-3:
                break
            length *= 0.5
        settled = abs(divergence - new_divergence) < 1e-3 * size and length == 1.0
        anchor, precision = proposal, mixed
        tell(anchor.mean)
        gradient, hessian, divergence = new_gradient, new_hessian, new_divergence
        if step < TOLERANCE * np.sqrt(size) and settled:
            break
    return anchor
