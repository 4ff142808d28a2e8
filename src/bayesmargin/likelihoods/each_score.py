r"""The hinge of one-vs-rest problems sampled together: a binary one for every row and class.

The classes do not see one another, but they read the same rows. With *interleaved* weights (the
classes of one feature side by side) one reading of a row gives the scores of all classes.
"""

from typing import NamedTuple

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.base import add_rows
from bayesmargin.rows.layout import row_add, row_scores


class SeparateHinge(NamedTuple):
    """Rows with a binary hinge a class; ``reference`` (row, class) is 1 where it is active."""

    label: IntArray
    margin: float
    n_classes: int
    cost: FloatArray
    reference: IntArray


@implements(add_rows, SeparateHinge)
def _add_separate(hinge, rows, block, scale, work):  # type: ignore[no-untyped-def]
    first, size, index, count = block
    data, scores, n_classes = work.data, work.scores, hinge.n_classes
    table = work.working.reshape(work.working.shape[0] // n_classes, n_classes)
    margin, energy = hinge.margin, 0.0
    for _ in range(count):
        d = first + index
        row_scores(rows, d, table, scores)
        label, before, push = hinge.label[d], hinge.reference[d], scale * hinge.cost[d]
        # Turned round, the score of the row's own class wants to be low like all the others.
        scores[label] = -scores[label]
        changes = 0
        for k in range(n_classes):
            changes += (1 if margin + scores[k] > 0.0 else 0) != before[k]
        # Few classes of a row change at a time, and most often none.
        k = 0
        while changes > 0:
            slack = margin + scores[k]
            change = (1 if slack > 0.0 else 0) - before[k]
            if change != 0:
                changes -= 1
                energy += push * change * slack
                own = -push * change if k == label else push * change
                row_add(rows, d, own, data[k::n_classes])
            k += 1
        index += 1
        if index == size:
            index = 0
    return energy
