r"""What the weight vectors of an expert share, which no hinge sees, and the contrasts between them.

Adding one vector to all of an expert's weight vectors changes no difference of scores. Under the
prior :math:`N(0, s^2)` of every weight the mean of the R vectors is :math:`N(0, s^2/R)` whatever
the rows say, independent of the contrasts (the vectors less their mean). So a thermostat need not
move it. Where rows are read it should not: they give noise to the contrasts and none to the mean,
and what is right for the average of the two is too cold for one and too hot for the other.

The noise of a step falls apart in the same way: :math:`\nu_y - \bar\nu` pushes the contrasts, and
:math:`s\bar\nu`, independent of it, has the law of the shared part. That redraws it for nothing.

The one vector of two classes is a contrast already.
"""

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray


@inner_borrowing_jit
def take_shared(vectors: FloatArray, mean: FloatArray) -> None:
    """Move the mean of the vectors (rows of a matrix) into ``mean``; contrasts are left."""
    count = vectors.shape[0]
    for j in range(mean.shape[0]):
        mean[j] = 0.0
    if count == 1:
        return
    for y in range(count):
        for j in range(mean.shape[0]):
            mean[j] += vectors[y, j] / count
    give_shared(vectors, mean, -1.0)


@inner_borrowing_jit
def give_shared(vectors: FloatArray, mean: FloatArray, factor: float) -> None:
    """Add ``factor`` times ``mean`` to every vector."""
    if vectors.shape[0] == 1:
        return
    for y in range(vectors.shape[0]):
        for j in range(vectors.shape[1]):
            vectors[y, j] += factor * mean[j]


@inner_borrowing_jit
def contrast_count(vectors: FloatArray) -> int:
    """Coordinates that the contrasts of these vectors have."""
    return max(vectors.shape[0] - 1, 1) * vectors.shape[1]
