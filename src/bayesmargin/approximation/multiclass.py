r"""The anchor of a multi-class problem: a Gaussian fitted to a softmax-smoothed hinge.

With option values :math:`v_{dk} = x_d \cdot m_k + \ell\,[k \ne y_d]` the hinge of a row is
:math:`\max_k v_{dk} - v_{d y_d}`. Its expectation under a Gaussian has no closed form; it is
replaced by :math:`\tau_d \log \sum_k e^{v_{dk}/\tau_d}` with a temperature
:math:`\tau_d = \sqrt{2\pi}/4` times the standard deviation of the difference of the two leading
options, which has the right slope where they tie. Then, with :math:`\pi_d = softmax(v_d/\tau_d)`,

.. math:: \nabla = c \sum_d (\pi_d - e_{y_d}) \otimes x_d, \qquad
          H = \Lambda_0 + c \sum_d \tau_d^{-1} (diag\,\pi_d - \pi_d \pi_d^T) \otimes x_d x_d^T .

Mean and covariance are found in turn. The covariance is full for up to :data:`FULL_LIMIT` weights,
one block a class for up to that many features, and diagonal beyond.
"""

from typing import Protocol

import numpy as np
from scipy import linalg, optimize
from scipy.special import softmax

from bayesmargin.approximation.binary import column_squares, suited
from bayesmargin.approximation.centring import times_factor
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor
from bayesmargin.approximation.options import option_values, temperatures
from bayesmargin.foundation.observers import tell
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, LaplaceBelief
from bayesmargin.rows.source import DenseSource
from bayesmargin.targets.problem import Problem

FULL_LIMIT = 800
OUTER_ITERATIONS = 12
IN_PART, AFTER_PARTS = 6, 3  # of these on parts of the rows, and on all of them after that
SINGLE = 1 << 22  # products of a pass beyond which it multiplies in single precision,
SEARCH, SHORT = 40, 15  # steps of a minimisation, and where passes take as much: its law is renewed
FAINT = 1e-4  # share of a row's curvature from which on a class gets it
PARTS = (5_000, 20_000)  # rows on which larger problems are solved first,
LARGER, A_CLASS, A_COLUMN = 3, 50, 10  # times as many, and so many rows a class and a column
CURVATURE_ROWS = 20_000  # rows that estimate the metric; the gradient always uses all of them


def _energy(
    problem: Problem, mean: FloatArray, temperature: FloatArray
) -> tuple[float, FloatArray]:
    """Smoothed energy of the hinges and its gradient at ``mean``: sums over rows."""
    value, gradient = 0.0, np.zeros((problem.n_classes, problem.source.n_columns))
    single = problem.source.n_rows * gradient.size > SINGLE
    for span, values in problem.source.blocks():
        cost, tau = problem.cost[span], temperature[span, None]
        if single:
            values, mean = values.astype(np.float32, copy=False), mean.astype(np.float32)
            tau = tau.astype(np.float32)
        options = option_values(problem, span, values, mean)
        rows, label = np.arange(len(options)), problem.label[span]
        own = options[rows, label]
        options /= tau
        top = options.max(axis=1)
        options -= top[:, None]
        share = np.exp(options, out=options)
        mass = share.sum(axis=1)
        value += float(cost @ (temperature[span] * (np.log(mass) + top) - own))
        share *= (cost / mass)[:, None].astype(share.dtype)
        push = share
        push[rows, label] -= cost
        gradient += push.T @ values
    return value, gradient.ravel()


def _curvature(
    problem: Problem, anchor: GaussianAnchor, temperature: FloatArray, rows: IntArray
) -> FloatArray:
    """Smoothed Hessian in the structure of the anchor's factor: full, blocks or diagonal."""
    structure, n_classes = anchor.factor.ndim, problem.n_classes
    scale = problem.source.n_rows / rows.size
    size = len(anchor.mean)
    total: FloatArray = np.zeros((size, size) if structure == 2 else anchor.factor.shape)
    for start in range(0, rows.size, 2048):
        index = rows[start : start + 2048]
        values = problem.source.take(index).astype(float, copy=False)
        options = option_values(problem, index, values, anchor.mean)
        tau = temperature[index]
        share = softmax(options / tau[:, None], axis=1)
        weight = scale * problem.cost[index] / tau
        if structure == 2:
            spread = (share[:, :, None] * values[:, None, :]).reshape(index.size, -1)
            total -= (spread * weight[:, None]).T @ spread
            width = values.shape[1]
            for k in range(n_classes):
                span = slice(k * width, (k + 1) * width)
                total[span, span] += (values * (weight * share[:, k])[:, None]).T @ values
        else:
            local = weight[:, None] * share * (1.0 - share)
            if structure == 3:
                for k in range(n_classes):
                    near = np.flatnonzero(local[:, k] > FAINT * weight)
                    part = values[near]
                    total[k] += (part * local[near, k, None]).T @ part
            else:
                total += (local.T @ values**2).ravel()
    return total


def _widest(prior: Belief) -> float:
    """The largest scale of a prior, as a user would give it."""
    if isinstance(prior, LaplaceBelief):
        return float(np.max(prior.scale))
    precision = prior.precision if prior.precision.ndim == 1 else np.diag(prior.precision)
    return float(max(precision.min(), 1e-300) ** -0.5)


def _with_prior(prior: Belief, anchor: GaussianAnchor, curvature: FloatArray) -> FloatArray:
    """Factor of the covariance whose precision is the data's curvature plus the prior's."""
    _, _, extra = prior.expectation(anchor.mean, anchor.variances())
    if curvature.ndim == 1:
        return 1.0 / np.sqrt(curvature + (extra if extra.ndim == 1 else np.diag(extra)))
    if curvature.ndim == 2:
        try:
            return inverse_factor(curvature + (np.diag(extra) if extra.ndim == 1 else extra))[0]
        except linalg.LinAlgError:
            raise ValueError(
                f"a prior of scale {_widest(prior):.3g} is lost in rounding beside what the rows "
                f"say (to within {np.diag(curvature).max() ** -0.5:.3g}), and it alone holds what "
                "the classes share: choose a smaller prior_scale, a few times the weights that "
                "you expect"
            ) from None
    size = curvature.shape[1]
    own = extra if extra.ndim == 1 else np.diag(extra)
    parts = own.reshape(-1, size)
    return np.stack(
        [inverse_factor(c + np.diag(p))[0] for c, p in zip(curvature, parts, strict=True)]
    )


def initial_factor(n_blocks: int, broad: FloatArray) -> FloatArray:
    """Factor of the deviations ``broad`` in the structure that the size of the problem affords."""
    if n_blocks * broad.size <= FULL_LIMIT:
        return np.diag(np.tile(broad, n_blocks))
    if broad.size <= FULL_LIMIT:
        return np.stack([np.diag(broad)] * n_blocks)
    return np.tile(broad, n_blocks)


class RowSums(Protocol):
    """What the alternation needs of the rows, wherever they are."""

    prior: Belief
    n_classes: int
    n_columns: int
    n_rows: int

    def smooth_at(self, anchor: GaussianAnchor) -> None:
        """Take the temperatures of the rows from ``anchor`` from now on."""

    def energy(self, mean: FloatArray) -> tuple[float, FloatArray]:
        """Smoothed energy of the hinges and its gradient."""

    def curvature(self, mean: FloatArray) -> FloatArray:
        """Smoothed Hessian of the hinges in the structure of the anchor's factor."""


class _Here:
    """Sums over the rows of a problem of this machine."""

    def __init__(self, problem: Problem, rows: IntArray) -> None:
        self.problem, self.rows = problem, rows
        self.prior, self.n_classes = problem.prior, problem.n_classes
        self.n_rows, self.n_columns = problem.source.n_rows, problem.source.n_columns

    def smooth_at(self, anchor: GaussianAnchor) -> None:
        self.anchor, self.temperature = anchor, temperatures(self.problem, anchor)

    def energy(self, mean: FloatArray) -> tuple[float, FloatArray]:
        return _energy(self.problem, mean, self.temperature)

    def curvature(self, mean: FloatArray) -> FloatArray:
        anchor = GaussianAnchor(mean, self.anchor.factor)
        return _curvature(self.problem, anchor, self.temperature, self.rows)


def smoothed_energy(
    problem: Problem, anchor: GaussianAnchor, mean: FloatArray
) -> tuple[float, FloatArray]:
    """Energy of the hinges at ``mean``, smoothed at ``anchor``, and its gradient."""
    return _energy(problem, mean, temperatures(problem, anchor))


def smoothed_curvature(
    problem: Problem, anchor: GaussianAnchor, mean: FloatArray, rows: IntArray
) -> FloatArray:
    """Hessian of the hinges at ``mean``, smoothed at ``anchor``, estimated from some rows."""
    temperature = temperatures(problem, anchor)
    return _curvature(problem, GaussianAnchor(mean, anchor.factor), temperature, rows)


def fit_multiclass_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian anchor by alternating a smooth convex minimisation and a new covariance.

    Large problems in memory are first solved on random parts of their rows, as those of two classes
    are.
    """
    source, n_rows = problem.source, problem.source.n_rows
    broad = suited(column_squares(problem), n_rows)
    factor = initial_factor(problem.n_classes, broad)
    anchor = GaussianAnchor(np.zeros(problem.n_weights), factor)
    least = max(A_CLASS * problem.n_classes, A_COLUMN * source.n_columns)
    for size in sorted({max(size, least) for size in PARTS}):
        if isinstance(source, DenseSource) and LARGER * size <= n_rows:
            index = np.sort(rng.choice(n_rows, size, replace=False, shuffle=False))
            some = DenseSource(source.take(index), intercept=False)
            part = problem.part(some, index, n_rows / size)
            anchor = alternate(_Here(part, np.arange(size)), anchor, IN_PART)
    count = max(CURVATURE_ROWS, 2 * source.n_columns)
    rows = np.sort(rng.permutation(n_rows)[:count])
    return alternate(_Here(problem, rows), anchor, AFTER_PARTS if anchor.iterations else None)


def alternate(sums: RowSums, anchor: GaussianAnchor, most: int | None = None) -> GaussianAnchor:
    """Minimise the smoothed energy, renew the covariance, until neither moves."""
    size = sums.n_classes * sums.n_columns
    passes, before = anchor.iterations, np.inf
    limit = {"maxiter": SHORT if sums.n_rows * size > SINGLE else SEARCH}
    for _ in range(most or OUTER_ITERATIONS):
        sums.smooth_at(anchor)

        def objective(
            position: FloatArray, anchor: GaussianAnchor = anchor
        ) -> tuple[float, FloatArray]:
            mean = anchor.mean + times_factor(anchor.factor, position)
            value, gradient = sums.energy(mean)
            extra, slope, _ = sums.prior.expectation(mean, anchor.variances())
            return value + extra, times_factor(anchor.factor, gradient + slope, transpose=True)

        found = optimize.minimize(
            objective, np.zeros(size), jac=True, method="L-BFGS-B", options=limit
        )
        passes += found.nfev + 2
        anchor = GaussianAnchor(anchor.mean + times_factor(anchor.factor, found.x), anchor.factor)
        factor = _with_prior(sums.prior, anchor, sums.curvature(anchor.mean))
        anchor = GaussianAnchor(anchor.mean, factor, passes)
        tell(anchor.mean)
        log_det = float(np.mean(np.log(anchor.variances())))
        settled = abs(log_det - before) < 0.02
        before = log_det
        if settled and float(found.x @ found.x) < 0.01 * size:
            break
    return anchor
