r"""The hinge pseudo-likelihoods, binary and multi-class: value and subgradient, in one place.

Binary, with label :math:`y \in \{-1, +1\}` and score :math:`f`:

.. math:: \zeta = \ell - y f, \qquad \psi = \exp(-c\,(\zeta)_+)

Multi-class (Crammer and Singer), with label :math:`y` and scores :math:`s_0 \dots s_{L-1}`:

.. math:: \zeta = \ell + \max_{y' \ne y} s_{y'} - s_y, \qquad \psi = \exp(-c\,(\zeta)_+)

The multi-class hinge is a maximum over *options*,
:math:`\max_{y'} (s_{y'} + \ell\,[y' \ne y]) - s_y`; the option that attains it is the *winner*,
and the label itself wins when the hinge is zero. The subgradient of :math:`\log\psi` is
:math:`c\,x` for the label's weights and :math:`-c\,x` for the winner's, which cancel when they are
the same.

At a kink the hinge counts as inactive, and ties between other classes go to the lowest index: these
conventions are part of the interface, so that equal seeds give equal draws.
"""

from bayesmargin.foundation.compiling import borrowing_jit, jit
from bayesmargin.foundation.types import FloatArray


@jit
def binary_slack(margin: float, sign: float, score: float) -> float:
    """Slack ``margin - sign * score``; the hinge is its positive part."""
    return margin - sign * score


@jit
def binary_log_psi(cost: float, margin: float, sign: float, score: float) -> float:
    """Log pseudo-likelihood of one binary label.

    Examples
    --------
    >>> from bayesmargin.likelihoods.hinge import binary_log_psi
    >>> binary_log_psi(2.0, 1.0, -1.0, 0.25)
    -2.5
    """
    return -cost * max(0.0, margin - sign * score)


@jit
def runner_up(scores: FloatArray, label: int) -> int:
    """Class with the largest score among those that are not ``label`` (lowest index on ties)."""
    best = 1 if label == 0 else 0
    largest = scores[best]
    for k in range(best + 1, scores.shape[0]):
        score = scores[k]
        if k != label and score > largest:
            best, largest = k, score
    return best


@jit
def multiclass_slack(margin: float, scores: FloatArray, label: int) -> float:
    """Slack ``margin + max_{k != label} scores[k] - scores[label]``."""
    return margin + scores[runner_up(scores, label)] - scores[label]


@jit
def winner(margin: float, scores: FloatArray, label: int) -> int:
    """Option that attains the hinge: the runner-up when the hinge is active, else the label.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods.hinge import winner
    >>> winner(1.0, np.array([0.0, 0.5, 2.0]), 2), winner(1.0, np.array([0.0, 1.5, 2.0]), 2)
    (2, 1)
    """
    rival = runner_up(scores, label)
    return rival if margin + scores[rival] - scores[label] > 0.0 else label


@borrowing_jit
def still_wins(margin: float, scores: FloatArray, label: int, option: int) -> bool:
    """Whether ``option`` is the :func:`winner`, asked without a branch: most rows keep theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods.hinge import still_wins
    >>> [still_wins(1.0, np.array([0.0, 1.5, 2.0]), 2, option) for option in range(3)]
    [False, True, False]
    """
    own, others = scores[label], scores[option]
    bound = scores.dtype.type(own - margin) if option == label else others
    above = 0
    for k in range(scores.shape[0]):
        above += scores[k] > bound
    above -= own > bound
    return above == 0 and (option == label or margin + others - own > 0.0)


@jit
def multiclass_log_psi(cost: float, margin: float, scores: FloatArray, label: int) -> float:
    """Log pseudo-likelihood of one multi-class label.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods.hinge import multiclass_log_psi
    >>> multiclass_log_psi(1.0, 1.0, np.array([0.0, 0.5, 2.0]), 1)
    -2.5
    """
    return -cost * max(0.0, multiclass_slack(margin, scores, label))
