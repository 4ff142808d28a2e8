"""Probabilities and thresholds learned on documents held out, as they are and cut short."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesmargin.calibration.label_chances import gather_evidence, learn_chances
from bayesmargin.calibration.slopes import ScoreLink, fit_link, learn_brevity
from bayesmargin.calibration.two_classes import fit_two_classes
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.documents import Documents, join, shorten

# Held-out documents beyond this number would make the link no better.
MAX_HELD_OUT = 300
# Fewer of them with label sets are cut short so often, to see how much a few words are worth.
MAX_CUTS = 16


def learn_link(training: Any, held: Documents, signs: IntArray) -> ScoreLink:
    """The link of a training, from documents held out (of words that it has met) with labels."""
    several = training.code.several
    nothing = Documents(held.words[:0], np.zeros(2, dtype=np.int64))
    rng, n_cuts = np.random.default_rng(training.seed), 1
    if several:
        n_cuts = min(MAX_CUTS, -(-MAX_HELD_OUT // len(signs)))
    documents = join(held, *(shorten(held, rng) for _ in range(n_cuts)), nothing)
    scores = training.scores(documents)
    shares = (training.n_labelled + 1.0) / (training.n_seen + 2.0)
    whole, margin = scores[: len(signs)], training.resolved.hinge.margin
    evidence = gather_evidence(signs, shares, training.n_seen)
    if training.code.n_classifiers == 1:
        link = ScoreLink(*fit_two_classes(whole, evidence, margin))
    else:
        prevalence = np.clip(training.n_labelled / max(training.n_seen, 1), 0.0, 1.0)
        link = fit_link(whole, signs, prevalence, several, margin)
    again, lengths = np.tile(signs, (1 + n_cuts, 1)), documents.lengths[:-1]
    link = learn_brevity(link, scores[:-1], lengths, again, scores[-1], shares, several)
    if not several:
        return link
    chances = learn_chances(scores[:-1], lengths, evidence, scores[-1], margin)
    return replace(link, chances=chances)
