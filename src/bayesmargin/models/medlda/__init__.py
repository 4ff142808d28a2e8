"""MedLDA: max-margin supervised topic models.

A document walks through this package in one direction: :mod:`.documents` (counts to words),
:mod:`.labels` (labels to signs), :mod:`.fitting` (ways to learn), :mod:`.training` (the loop) with
one of the :mod:`.learners` (:mod:`.ssgrld`, :mod:`.gibbs`, :mod:`.passive_aggressive`), their
kernels (:mod:`.conditionals`, :mod:`.supervised` and :mod:`.hinges`, :mod:`.quadratic`,
:mod:`.topics`, :mod:`.weights`), then :mod:`.prediction`, the maps in
:mod:`bayesmargin.calibration`, :mod:`.answers` and :mod:`.understanding`.
"""

from bayesmargin.models.medlda.classifier import MedLDAClassifier
from bayesmargin.models.medlda.documents import TokenCounter
from bayesmargin.models.medlda.samplers import SSGRLD, CollapsedGibbs, PassiveAggressive
from bayesmargin.models.medlda.understanding import coherence, plot_class_topics

__all__ = [
    "SSGRLD",
    "CollapsedGibbs",
    "MedLDAClassifier",
    "PassiveAggressive",
    "TokenCounter",
    "coherence",
    "plot_class_topics",
]
