"""Collapsed Gibbs sampling starts with topics of its own for every class, as minibatches do."""

import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda.gibbs import CollapsedChain

rng = np.random.default_rng(0)
CLASSES = 8
y = np.repeat(np.arange(CLASSES), 30)
X = rng.poisson(0.2 + 3.0 * np.repeat(np.eye(CLASSES), 3, axis=1)[y])


def accuracies(labels):
    model = MedLDAClassifier(CLASSES, sampler="gibbs", n_chains=1, sampler__n_passes=10)
    return [model.set_params(random_state=seed).fit(X, labels).score(X, labels) for seed in (0, 2)]


def test_classes_do_not_come_to_share_topics():
    assert min(accuracies(y)) > 0.98


def test_labels_of_sets_do_not_come_to_share_topics():
    assert min(accuracies(np.eye(CLASSES, dtype=int)[y])) > 0.9


def test_from_topics_at_random_they_do(monkeypatch):
    monkeypatch.setattr(CollapsedChain, "begin", lambda self: None)
    assert max(accuracies(y)) < 0.9
