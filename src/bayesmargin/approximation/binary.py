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

import numpy as np
from scipy.special import ndtr

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import CLOSE, TOLERANCE, Energy, newton
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, normal_density
from bayesmargin.rows.blocks import block_scores, block_sum
from bayesmargin.rows.sampling import sampled
from bayesmargin.rows.source import DenseSource
from bayesmargin.targets.problem import Problem

CERTAIN = 8.5  # standard deviations beyond which a row's state is not in doubt (Phi < 1e-16)
FLAT = 6.5  # standard deviations beyond which a row bends the energy by next to nothing,
MANY = 0.8  # and share of rows nearer than that from which none is left out
HUGE = 1e7  # root mean square of a column beyond which unit weights are no start
PARTS = (5_000, 15_000, 50_000, 200_000)  # rows on which larger problems are solved first
LARGER = 3  # times as many rows that a problem has at least, and the next part


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
        self.norm = 1.0 if certain is None else anchor.widest()

    def __call__(
        self, span: slice, values: FloatArray
    ) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
        """Mean slack of a block; then indices, values and deviations of the rows in doubt.

        The values are in units of the deviations of the weights.
        """
        scores, norms = block_scores(values, self.anchor.mean, self.scale)
        centre = self.problem.slack(span, scores)
        near = np.arange(len(centre))
        if self.certain is not None:
            near = np.flatnonzero(np.abs(centre) <= self.certain * self.norm * norms)
        deviation = norms[near]
        full = self.anchor.factor.ndim == 2
        chosen = (values[near] * self.scale).astype(
            self.anchor.unit_factor.dtype if full else float
        )
        if full:
            deviation = self.anchor.spread(chosen)
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
        weight = cost[near] * density / deviation
        bent = np.flatnonzero(np.abs(ratio) < FLAT)
        if bent.size < MANY * near.size:
            chosen, weight = chosen[bent], weight[bent]
        chosen *= np.sqrt(weight)[:, None].astype(chosen.dtype)
        hessian += chosen.T @ chosen
    hessian /= np.multiply.outer(moments.scale, moments.scale)
    return value + float(problem.tilt @ anchor.mean), gradient, hessian


def with_prior(prior: Belief, anchor: GaussianAnchor, hinges: Energy) -> Energy:
    """Expected energy of hinges and prior."""
    extra, slope, curvature = prior.expectation(anchor.mean, anchor.variances())
    own = np.diag(curvature) if curvature.ndim == 1 else curvature
    return hinges[0] + extra, hinges[1] + slope, hinges[2] + own


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
        anchor = _on_rows(part, anchor, CLOSE)
    return _on_rows(problem, anchor)


def part_sizes(n_rows: int, n_columns: int, memory: float = np.inf) -> list[int]:
    """Growing numbers of rows that give a start; none where all rows are as quick.

    The largest, in single precision, takes no more than ``memory`` bytes.
    """
    sizes = sorted({max(size, 20 * n_columns) for size in PARTS})
    sizes = [size for size in sizes if LARGER * size <= n_rows and 4 * size * n_columns <= memory]
    larger = [*sizes, n_rows][1:]
    return [size for size, after in zip(sizes, larger, strict=True) if LARGER * size <= after]


def _on_rows(
    problem: Problem, start: GaussianAnchor | None = None, tolerance: float = TOLERANCE
) -> GaussianAnchor:
    def energy(anchor: GaussianAnchor) -> Energy:
        return with_prior(problem.prior, anchor, expected_hinges(problem, anchor))

    if start is not None:
        return newton(energy, problem.n_weights, start)
    broad = suited(column_squares(problem), problem.source.n_rows)
    return newton(energy, problem.n_weights, broad=broad, tolerance=tolerance)


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
