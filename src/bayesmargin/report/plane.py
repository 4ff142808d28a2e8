"""The plane that regions are drawn in: two features, or the first two principal components."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.types import FloatArray


@dataclass(frozen=True)
class Plane:
    """A plane through the mean of the rows, and the way there and back.

    Attributes
    ----------
    centre, scale : arrays of shape (feature,)
        Standardise the features.
    axes : array of shape (2, feature)
        Directions among standardised features.
    share : float or None
        Share of the variance that lies in the plane; None when there are two features only.
    """

    centre: FloatArray
    scale: FloatArray
    axes: FloatArray
    names: tuple[str, str]
    share: float | None

    def project(self, X: FloatArray) -> FloatArray:
        """Places of rows in the plane."""
        value: FloatArray = ((X - self.centre) / self.scale) @ self.axes.T
        return value

    def lift(self, points: FloatArray) -> FloatArray:
        """Rows at places of the plane."""
        value: FloatArray = self.centre + (points @ self.axes) * self.scale
        return value


def plane_of(X: FloatArray, feature_names: list[str]) -> Plane:
    """The plane for rows of two features or more.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.report.plane import plane_of
    >>> plane = plane_of(np.random.default_rng(0).standard_normal((50, 4)), list("abcd"))
    >>> points = np.array([[0.5, -1.0]])
    >>> bool(np.allclose(plane.project(plane.lift(points)), points))
    True
    """
    if X.shape[1] == 2:
        first, second = feature_names
        return Plane(np.zeros(2), np.ones(2), np.eye(2), (first, second), None)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    _, values, directions = np.linalg.svd((X - centre) / scale, full_matrices=False)
    square = values**2
    share = float(square[:2].sum() / max(float(square.sum()), 1e-300))
    names = ("first principal component", "second principal component")
    return Plane(centre, scale, directions[:2], names, share)
