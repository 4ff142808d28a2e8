"""Probabilities of two classes, one of them rare: no worse than the shares of both."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.metrics import log_loss

from bayesmargin import MedLDAClassifier
from bayesmargin.calibration import two_classes
from bayesmargin.calibration.label_chances import gather_evidence
from bayesmargin.calibration.two_classes import fit_two_classes

N_WORDS = 1000


def draw_corpus(n_documents, share, sharp, seed):
    """Two classes that differ in a few words of a hundred; the second has this share."""
    base, *own = np.random.default_rng(7).dirichlet(np.full(N_WORDS, 0.05), 3)
    rng = np.random.default_rng(seed)
    y = (rng.random(n_documents) < share).astype(int)
    chances = (1.0 - sharp) * base + sharp * np.array(own)
    X = np.array([rng.multinomial(rng.poisson(40) + 1, chances[c]) for c in y])
    return sp.csr_matrix(X), y


@pytest.mark.parametrize(
    ("share", "sharp"),
    [
        (0.02, 0.04),
        pytest.param(0.05, 0.04, marks=pytest.mark.slow),
        pytest.param(0.02, 0.1, marks=pytest.mark.slow),
    ],
)
def test_probabilities_of_a_rare_class_are_no_worse_than_its_share(share, sharp):
    """By the few rare documents held out alone, the probability of all others was 0.08."""
    X, y = draw_corpus(1500, share, sharp, 0)
    new, truth = draw_corpus(3000, share, sharp, 100)
    model = MedLDAClassifier(n_topics=10, n_chains=1, random_state=0).fit(X, y)
    chances = model.predict_proba(new)
    least = log_loss(truth, np.full(len(truth), y.mean()))
    assert log_loss(truth, chances) < least + 0.003
    assert abs(chances[:, 1].mean() - truth.mean()) < 0.02
    np.testing.assert_array_equal(model.predict(new), chances.argmax(axis=1))
    np.testing.assert_array_equal(model.decision_function(new) > 0.0, chances[:, 1] > 0.5)


def known_odds(n, share_offset, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(-50.0, 60.0, (n, 1))
    chance = expit(0.03 * (scores - share_offset))
    return scores, np.where(rng.random((n, 1)) < chance, 1, -1)


def test_slope_and_threshold_are_found():
    scores, signs = known_odds(20_000, 15.0, 1)
    evidence = gather_evidence(signs, (signs > 0).mean(axis=0), 20_000)
    slope, threshold = fit_two_classes(scores, evidence, margin=164.0)
    assert slope == pytest.approx(0.03, rel=0.08)
    assert threshold == pytest.approx(15.0, abs=4.0)


def test_scores_that_mean_nothing_give_the_shares():
    rng = np.random.default_rng(2)
    scores, signs = rng.normal(-100.0, 5.0, (75, 1)), np.full((75, 1), -1)
    signs[:5] = 1
    evidence = gather_evidence(signs, np.array([0.02]), 1500)
    slope, threshold = fit_two_classes(scores, evidence, margin=164.0)
    mean = expit(slope * (scores - threshold)).mean()
    assert 0.02 < mean < 0.05  # five of 75, and two of a hundred among 300


def test_separable_scores_and_one_class_have_finite_answers():
    for signs in (np.array([[-1], [1]]), np.array([[-1], [-1]])):
        evidence = gather_evidence(signs, np.array([0.5]), 10)
        found = fit_two_classes(np.array([[-1e4], [1e4]]), evidence, margin=1.0)
        assert np.isfinite(found).all()
        assert found[0] > 0.0


def test_gradients_are_those_of_the_loss(monkeypatch):
    """The minimiser is asked for what it was given, and the slopes are looked at there."""
    seen = []

    def record(loss, start, **_):
        for place in (np.array([0.3, 0.1]), np.array([-0.5, -0.2])):
            seen.append((loss(place)[1], approx_fprime(place, lambda p: loss(p)[0], 1e-7)))
        return type("Run", (), {"fun": 0.0, "x": np.zeros(2)})()

    monkeypatch.setattr(two_classes, "minimize", record)
    scores, signs = known_odds(30, 0.0, 3)
    fit_two_classes(scores, gather_evidence(signs, np.array([0.2]), 100), 164.0)
    for mine, numeric in seen:
        np.testing.assert_allclose(mine, numeric, rtol=1e-4, atol=1e-3)
