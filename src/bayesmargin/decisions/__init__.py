"""From probabilities to decisions: costs, no answer where the risk is too high, sets of classes.

All of it takes probabilities of classes, an array (row, class), from whichever model. What promises
something about further rows (:class:`Abstention`, :class:`PredictionSets`) takes probabilities of
rows with known labels as well, which the model must not have learned from: those of a linear model
are the leave-one-out ones of its training rows (``model.left_out_``), so that none are set aside.
"""

from bayesmargin.decisions.abstaining import Abstention
from bayesmargin.decisions.comparing import compare_left_out
from bayesmargin.decisions.costs import Costs
from bayesmargin.decisions.risk import RiskCurve, risk_curve
from bayesmargin.decisions.sets import PredictionSets

__all__ = [
    "Abstention",
    "Costs",
    "PredictionSets",
    "RiskCurve",
    "compare_left_out",
    "risk_curve",
]
