r"""One score a term: the hinge :math:`c\,(b - \sigma\,x \cdot w)_+` about a reference."""

from typing import NamedTuple

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.base import add_rows, row_log_psi
from bayesmargin.likelihoods.hinge import binary_log_psi
from bayesmargin.rows.layout import row_add, row_dot


class BinaryHinge(NamedTuple):
    """Binary rows: slack at weights ``w`` is ``slack[d] - sign[d] * x_d.w``; cost is ``c``."""

    sign: FloatArray
    slack: FloatArray
    cost: FloatArray
    reference: IntArray


@implements(add_rows, BinaryHinge, borrows=True)
def _add_binary(hinge, rows, block, scale, work):  # type: ignore[no-untyped-def]
    first, size, index, count = block
    signs, slacks, references = hinge.sign, hinge.slack, hinge.reference
    weights, data = work.working, work.data
    energy = 0.0
    for _ in range(count):
        d = first + index
        sign = signs[d]
        slack = slacks[d] - sign * row_dot(rows, d, weights)
        active = 1 if slack > 0.0 else 0
        change = active - references[d]
        if change != 0:
            push = scale * hinge.cost[d] * change
            row_add(rows, d, -push * sign, data)
            energy += push * slack
        index += 1
        if index == size:
            index = 0
    return energy


@implements(row_log_psi, BinaryHinge, borrows=True)
def _binary_row_log_psi(hinge, rows, index, weights, work):  # type: ignore[no-untyped-def]
    score = row_dot(rows, index, weights)
    return binary_log_psi(hinge.cost[index], hinge.slack[index], hinge.sign[index], score)
