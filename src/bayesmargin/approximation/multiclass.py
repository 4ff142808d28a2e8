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
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor
from bayesmargin.foundation.observers import tell
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, LaplaceBelief
from bayesmargin.targets.problem import Problem

FULL_LIMIT = 800
OUTER_ITERATIONS = 12
TEMPERATURE = np.sqrt(2.0 * np.pi) / 4.0
CURVATURE_ROWS = 20_000  # rows that estimate the metric; the gradient always uses all of them


def contrast_covariances(anchor: GaussianAnchor, n_classes: int) -> FloatArray:
    """Covariance of each class's weights after the mean over classes is taken out.

    The hinge sees only differences of classes, and the common part, which the data leave free,
    would drown them.
    """
    factor = anchor.factor
    if factor.ndim == 2:
        rows = factor.reshape(n_classes, -1, factor.shape[1])
        centred = rows - rows.mean(axis=0)
        return np.matmul(centred, centred.transpose(0, 2, 1))
    if factor.ndim == 3:
        blocks = np.matmul(factor, factor.transpose(0, 2, 1))
    else:
        blocks = (factor**2).reshape(n_classes, -1)
    return blocks * (1.0 - 2.0 / n_classes) + blocks.sum(axis=0) / n_classes**2


def _deviations(values: FloatArray, covariances: FloatArray) -> FloatArray:
    """Standard deviation of each class's score for each row."""
    if covariances.ndim == 2:
        return np.sqrt(np.maximum((values**2) @ covariances.T, 1e-300))
    squares = np.stack([np.einsum("ij,ij->i", values @ part, values) for part in covariances], 1)
    return np.sqrt(np.maximum(squares, 1e-300))


def _options(
    problem: Problem, chosen: slice | IntArray, values: FloatArray, mean: FloatArray
) -> FloatArray:
    """Values of the options at ``mean`` of some rows, the chosen ones."""
    options = values @ mean.reshape(problem.n_classes, -1).T + problem.margin
    rows = np.arange(len(options))
    options[rows, problem.label[chosen]] -= problem.margin
    return options


def option_moments(
    problem: Problem, span: slice, values: FloatArray, anchor: GaussianAnchor
) -> tuple[FloatArray, FloatArray]:
    """Mean values of the options of a block of rows, and standard deviations of the scores."""
    covariances = contrast_covariances(anchor, problem.n_classes)
    return _options(problem, span, values, anchor.mean), _deviations(values, covariances)


def _temperatures(problem: Problem, anchor: GaussianAnchor) -> FloatArray:
    """Smoothing temperature of every row at the anchor."""
    result = np.empty(problem.source.n_rows)
    covariances = contrast_covariances(anchor, problem.n_classes)
    for span, values in problem.source.blocks():
        options = _options(problem, span, values, anchor.mean)
        deviations = _deviations(values, covariances)
        result[span] = temperature_of(options, deviations)
    return result


def temperature_of(options: FloatArray, deviations: FloatArray) -> FloatArray:
    """Smoothing temperature of rows, from values of options and deviations of scores."""
    leading = np.argpartition(-options, 1, axis=1)[:, :2]
    pair = np.take_along_axis(deviations, leading, axis=1)
    temperature: FloatArray = TEMPERATURE * np.sqrt((pair**2).sum(axis=1))
    return temperature


def _energy(
    problem: Problem, mean: FloatArray, temperature: FloatArray
) -> tuple[float, FloatArray]:
    """Smoothed energy of the hinges and its gradient at ``mean``: sums over rows."""
    value, gradient = 0.0, np.zeros((problem.n_classes, problem.source.n_columns))
    for span, values in problem.source.blocks():
        cost, tau = problem.cost[span], temperature[span, None]
        options = _options(problem, span, values, mean)
        rows, label = np.arange(len(options)), problem.label[span]
        own = options[rows, label]
        options /= tau
        top = options.max(axis=1)
        share = np.exp(options - top[:, None], out=options)
        mass = share.sum(axis=1)
        value += float(cost @ (tau[:, 0] * (np.log(mass) + top) - own))
        push = np.multiply(share, (cost / mass)[:, None], out=share)
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
        options = _options(problem, index, values, anchor.mean)
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
                    total[k] += (values * local[:, k, None]).T @ values
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


def _times_factor(factor: FloatArray, vector: FloatArray, transpose: bool = False) -> FloatArray:
    if factor.ndim == 1:
        return factor * vector
    if factor.ndim == 2:
        return (factor.T if transpose else factor) @ vector
    parts = vector.reshape(factor.shape[0], factor.shape[1], 1)
    return np.matmul(factor.transpose(0, 2, 1) if transpose else factor, parts).ravel()


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
        self.n_columns = problem.source.n_columns

    def smooth_at(self, anchor: GaussianAnchor) -> None:
        self.anchor, self.temperature = anchor, _temperatures(self.problem, anchor)

    def energy(self, mean: FloatArray) -> tuple[float, FloatArray]:
        return _energy(self.problem, mean, self.temperature)

    def curvature(self, mean: FloatArray) -> FloatArray:
        anchor = GaussianAnchor(mean, self.anchor.factor)
        return _curvature(self.problem, anchor, self.temperature, self.rows)


def smoothed_energy(
    problem: Problem, anchor: GaussianAnchor, mean: FloatArray
) -> tuple[float, FloatArray]:
    """Energy of the hinges at ``mean``, smoothed at ``anchor``, and its gradient."""
    return _energy(problem, mean, _temperatures(problem, anchor))


def smoothed_curvature(
    problem: Problem, anchor: GaussianAnchor, mean: FloatArray, rows: IntArray
) -> FloatArray:
    """Hessian of the hinges at ``mean``, smoothed at ``anchor``, estimated from some rows."""
    temperature = _temperatures(problem, anchor)
    return _curvature(problem, GaussianAnchor(mean, anchor.factor), temperature, rows)


def fit_multiclass_anchor(problem: Problem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian anchor by alternating a smooth convex minimisation and a new covariance."""
    count = max(CURVATURE_ROWS, 2 * problem.source.n_columns)
    rows = np.sort(rng.permutation(problem.source.n_rows)[:count])
    broad = suited(column_squares(problem), problem.source.n_rows)
    factor = initial_factor(problem.n_classes, broad)
    return alternate(_Here(problem, rows), GaussianAnchor(np.zeros(problem.n_weights), factor))


def alternate(sums: RowSums, anchor: GaussianAnchor) -> GaussianAnchor:
    """Minimise the smoothed energy, renew the covariance, until neither moves."""
    size = sums.n_classes * sums.n_columns
    passes, before = 0, np.inf
    for _ in range(OUTER_ITERATIONS):
        sums.smooth_at(anchor)

        def objective(
            position: FloatArray, anchor: GaussianAnchor = anchor
        ) -> tuple[float, FloatArray]:
            mean = anchor.mean + _times_factor(anchor.factor, position)
            value, gradient = sums.energy(mean)
            extra, slope, _ = sums.prior.expectation(mean, anchor.variances())
            return value + extra, _times_factor(anchor.factor, gradient + slope, transpose=True)

        found = optimize.minimize(
            objective, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 40}
        )
        passes += found.nfev + 2
        anchor = GaussianAnchor(anchor.mean + _times_factor(anchor.factor, found.x), anchor.factor)
        factor = _with_prior(sums.prior, anchor, sums.curvature(anchor.mean))
        anchor = GaussianAnchor(anchor.mean, factor, passes)
        tell(anchor.mean)
        log_det = float(np.mean(np.log(anchor.variances())))
        settled = abs(log_det - before) < 0.02
        before = log_det
        if settled and float(found.x @ found.x) < 0.01 * size:
            break
    return anchor
