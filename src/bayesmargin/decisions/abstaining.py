r"""No answer where the risk is too high, at a risk that is kept.

A row is answered where its most probable class is likelier than a threshold. Rows with known
labels, :math:`n` of which are beyond a threshold, :math:`k` of these errors, bound its risk: with
probability :math:`1 - \delta` it is below the :math:`r` for which a binomial law of :math:`n`
trials gives at most :math:`k` errors with probability :math:`\delta` (Clopper and Pearson).

The threshold is chosen by the same rows. So that the promise stands, thresholds are tested one
after the other, from few rows to many, as long as the bound is below the wished risk; that starts
at several places, which share :math:`\delta` (fixed-sequence testing).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from bayesmargin.decisions.checking import checked_probabilities
from bayesmargin.decisions.risk import risk_curve
from bayesmargin.foundation.arguments import require_share
from bayesmargin.foundation.types import BoolArray, FloatArray

STARTS = (0.2, 0.5, 0.8)  # shares of the rows at which tests start
STEPS = 200  # thresholds that are tested, at most


@dataclass(frozen=True)
class Abstention:
    """A threshold of certainty beyond which rows are answered.

    Attributes
    ----------
    threshold : float
        Probability of the most probable class; above one where no threshold keeps the risk.
    answered, risk : float
        Shares answered and, among these, of errors, in the rows that the threshold was found on.
    bound : float
        Risk that further rows have at most, with the confidence that was asked for.
    """

    threshold: float
    answered: float
    risk: float
    bound: float

    def answers(self, probability: Any) -> BoolArray:
        """Which rows are answered."""
        certain: BoolArray = checked_probabilities(probability).max(axis=1) >= self.threshold
        return certain

    @classmethod
    def at_risk(
        cls,
        risk: float,
        probability: Any,
        label: Any,
        weight: Any = None,
        confidence: float = 0.95,
    ) -> "Abstention":
        """The lowest threshold whose risk is at most the wished one.

        Parameters
        ----------
        risk : float
            Share of errors among the rows answered, at most.
        probability : array-like of shape (n_rows, n_classes)
            Of rows that the model has not learned from, or from which each was left out.
        label : array-like of shape (n_rows,)
            Their class numbers.
        weight : array-like of shape (n_rows,), optional
            Rows that each stands for.
        confidence : float
            How sure it is that the promise is kept, over such samples of rows.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.decisions import Abstention
        >>> chance = np.random.default_rng(0).random(2000)
        >>> label = (np.random.default_rng(1).random(2000) < chance).astype(int)
        >>> both = np.column_stack([1.0 - chance, chance])
        >>> found = Abstention.at_risk(0.1, both, label)
        >>> round(found.threshold, 1), found.bound <= 0.1
        (0.8, True)
        """
        require_share("risk", risk)
        require_share("confidence", confidence)
        curve = risk_curve(probability, label, weight)
        total = float(len(label)) if weight is None else float(np.sum(weight))
        bounds = upper_bound(curve.risk, curve.answered * total, (1.0 - confidence) / len(STARTS))
        kept = bounds <= risk
        steps = np.unique(np.linspace(0, len(kept) - 1, STEPS).astype(int))
        best = -1
        for start in STARTS:
            for place in steps[curve.answered[steps] >= start]:
                if not kept[place]:
                    break
                best = max(best, int(place))
        if best < 0:
            return cls(np.inf, 0.0, 0.0, 0.0)
        found = (part[best] for part in (curve.threshold, curve.answered, curve.risk, bounds))
        return cls(*map(float, found))


def upper_bound(share: FloatArray, count: FloatArray, doubt: float) -> FloatArray:
    """Largest probability of an event that is seen so seldom with probability ``doubt``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.decisions.abstaining import upper_bound
    >>> upper_bound(np.array([0.0]), np.array([59.0]), 0.05).round(3)
    array([0.05])
    """
    hits = share * count
    misses = np.maximum(count - hits, 1e-9)
    return np.asarray(np.where(share < 1.0, betaincinv(hits + 1.0, misses, 1.0 - doubt), 1.0))
