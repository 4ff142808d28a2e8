"""The part of the weights that all classes of a wide problem share, drawn exactly."""

import numpy as np

from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.targets.coordinates import Scaled, Sheared
from bayesmargin.targets.problem import Problem


class CommonPart:
    r"""The mean over classes of each feature's weights, which the hinge does not see.

    With a Gaussian prior of one precision :math:`\lambda_j` for all :math:`L` classes of a feature
    it is :math:`N(\bar\mu_j, 1/(L\lambda_j))` under the posterior, independent of the differences
    between classes. Data make the differences narrow and leave the mean wide, which no scale of a
    single weight suits; drawing it afresh at every draw is exact.

    An integrator whose steps begin with a whole kick :math:`r \leftarrow r - h \nabla U(u)` is
    caught between the two halves of that kick, where momentum and position belong together: the
    half that is already due is the one at the new position, not at the old one.
    """

    def __init__(
        self, coordinates: Scaled | Sheared, prior: GaussianBelief, n_classes: int
    ) -> None:
        shape = (-1, n_classes)
        self.mean_row = np.zeros(coordinates.centre.size // n_classes)
        if isinstance(coordinates, Sheared):
            self.mean_row[coordinates.columns] = coordinates.share
        self.centre = coordinates.centre.reshape(shape)
        self.scale = coordinates.scale.reshape(shape)
        self.mean = prior.mean.reshape(n_classes, -1).mean(axis=0)
        self.precision = prior.precision.reshape(n_classes, -1)[0]
        self.deviation = 1.0 / np.sqrt(n_classes * self.precision)

    def redraw(
        self, position: FloatArray, momentum: FloatArray, kick: float, rng: np.random.Generator
    ) -> None:
        """Replace the common part of a position (classes interleaved), in place.

        ``kick`` is the time by which the integrator's momentum is ahead: half a step, or zero.
        """
        table, speeds = position.reshape(self.scale.shape), momentum.reshape(self.scale.shape)
        moves = (self.scale * table).mean(axis=1)
        now = self.centre.mean(axis=1) + moves
        now[-1] -= self.mean_row @ moves
        shift = self.mean + self.deviation * rng.standard_normal(len(self.mean)) - now
        pull = self.precision * shift
        pull -= self.mean_row * pull[-1]
        speeds += kick * pull[:, None] * self.scale
        shift[-1] += self.mean_row @ shift
        table += shift[:, None] / self.scale


def common_part(problem: Problem, prepared: PreparedTarget) -> CommonPart | None:
    """The common part of a multi-class problem, where it can be drawn exactly."""
    prior, coordinates = problem.prior, prepared.coordinates
    if not isinstance(prepared.target.hinge, InterleavedHinge):
        return None
    if not isinstance(prior, GaussianBelief) or prior.precision.ndim != 1:
        return None
    precision = prior.precision.reshape(problem.n_classes, -1)
    if np.any(precision != precision[0]) or not isinstance(coordinates, Scaled | Sheared):
        return None
    return CommonPart(coordinates, prior, problem.n_classes)
