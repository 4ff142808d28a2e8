"""Values of the options of rows under a Gaussian, and how far they vary."""

import numpy as np

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.targets.problem import Problem

TEMPERATURE = np.sqrt(2.0 * np.pi) / 4.0
MANY = 1 << 33  # products beyond which deviations of options that do not lead are bounded
TRIED = 400  # rows that say how much wider a class can be than all on the average,
ROOM = 1.3  # and what is allowed beyond the widest of them


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


def deviations_of(values: FloatArray, covariances: FloatArray) -> FloatArray:
    """Standard deviation of each class's score for each row."""
    if covariances.ndim == 2:
        return np.sqrt(np.maximum((values**2) @ covariances.T, 1e-300))
    squares = np.stack([np.einsum("ij,ij->i", values @ part, values) for part in covariances], 1)
    return np.sqrt(np.maximum(squares, 1e-300))


def option_values(
    problem: Problem, chosen: slice | IntArray, values: FloatArray, mean: FloatArray
) -> FloatArray:
    """Values of the options at ``mean`` of some rows, the chosen ones."""
    options = values @ mean.reshape(problem.n_classes, -1).T + problem.margin
    rows = np.arange(len(options))
    options[rows, problem.label[chosen]] -= problem.margin
    return options


class OptionMoments:
    """Mean values of the options of a block of rows, and standard deviations of the scores.

    Where these would take very many products, only those of the two leading options are computed.
    The others are bounded: a class is wider than all on the average by no more than it is for any
    of some rows, with some room. That moves kinks nearer, never farther.
    """

    def __init__(self, problem: Problem, anchor: GaussianAnchor) -> None:
        self.problem, self.anchor = problem, anchor
        self.covariances = contrast_covariances(anchor, problem.n_classes)
        source = problem.source
        many = source.n_rows * source.n_columns * problem.n_weights > MANY
        self.ratio: FloatArray | None = None
        if many and self.covariances.ndim == 3:
            self.average = self.covariances.mean(axis=0)
            some = np.linspace(0, source.n_rows - 1, TRIED).astype(int)
            values = source.take(np.unique(some))
            common = deviations_of(values, self.average[None])
            self.ratio = ROOM * np.max(deviations_of(values, self.covariances) / common, axis=0)

    def __call__(self, span: slice, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and deviations, (row, class)."""
        options = option_values(self.problem, span, values, self.anchor.mean)
        if self.ratio is None:
            return options, deviations_of(values, self.covariances)
        deviations = deviations_of(values, self.average[None]) * self.ratio
        leading = leaders(options)
        np.put_along_axis(deviations, leading, _of_pairs(values, leading, self.covariances), 1)
        return options, deviations


def option_moments(
    problem: Problem, span: slice, values: FloatArray, anchor: GaussianAnchor
) -> tuple[FloatArray, FloatArray]:
    """All of :class:`OptionMoments`, exactly, of one block of rows."""
    covariances = contrast_covariances(anchor, problem.n_classes)
    return option_values(problem, span, values, anchor.mean), deviations_of(values, covariances)


def temperatures(problem: Problem, anchor: GaussianAnchor) -> FloatArray:
    """Smoothing temperature of every row at the anchor.

    Only the two leading options of a row have a say, so that those of a class are few rows.
    """
    result = np.empty(problem.source.n_rows)
    covariances = contrast_covariances(anchor, problem.n_classes)
    for span, values in problem.source.blocks():
        options = option_values(problem, span, values, anchor.mean)
        if covariances.ndim == 2:
            result[span] = temperature_of(options, deviations_of(values, covariances))
            continue
        pair = _of_pairs(values, leaders(options), covariances)
        result[span] = TEMPERATURE * np.sqrt((pair**2).sum(axis=1))
    return result


def _of_pairs(values: FloatArray, leading: IntArray, covariances: FloatArray) -> FloatArray:
    """Standard deviations of the scores of two classes a row."""
    squares = np.zeros(leading.shape)
    for k, covariance in enumerate(covariances):
        rows, which = np.nonzero(leading == k)
        part = values[rows]
        squares[rows, which] = np.einsum("ij,ij->i", part @ covariance, part)
    return np.sqrt(np.maximum(squares, 1e-300))


def leaders(options: FloatArray) -> IntArray:
    """The two leading options of every row."""
    return np.argpartition(-options, 1, axis=1)[:, :2]


def temperature_of(options: FloatArray, deviations: FloatArray) -> FloatArray:
    """Smoothing temperature of rows, from values of options and deviations of scores."""
    leading = leaders(options)
    pair = np.take_along_axis(deviations, leading, axis=1)
    temperature: FloatArray = TEMPERATURE * np.sqrt((pair**2).sum(axis=1))
    return temperature
