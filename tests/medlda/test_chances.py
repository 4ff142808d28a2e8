"""Probabilities of label sets: they come true as often as they say, whatever serves F1."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit

from bayesmargin import MedLDAClassifier, load
from bayesmargin.calibration import slopes
from bayesmargin.calibration.label_chances import Evidence, fit_odds, gather_evidence, learn_chances
from bayesmargin.calibration.reliability import curve_of
from bayesmargin.saving.files import sealed, unsealed

SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
OWN = np.arange(200) % 8 == np.arange(8)[:, None]


def draw_corpus(n_documents, seed, pull=0.2, noise=0.2):
    """Labels, most of them rare, that make 25 words each a little more frequent."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_documents, 8)) < SHARES).astype(int)
    return sp.csr_matrix(rng.poisson(noise + pull * Y @ OWN)), Y


def log_loss(Y, chances):
    return -np.mean(np.log(np.where(Y > 0, chances, 1.0 - chances)))


def small(**settings):
    return MedLDAClassifier(**{"n_topics": 10, "n_chains": 1, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def fitted():
    return small().fit(*draw_corpus(800, 1))


@pytest.fixture(scope="module")
def new():
    return draw_corpus(1500, 2)


METHODS = [
    {"sampler": "ssgrld"},
    {"sampler": "gibbs", "sampler__n_passes": 20},
    {"sampler": "pa"},
    {"multi_class": "crammer_singer"},
    pytest.param(
        {"multi_class": "ovr", "sampler__n_passes": 1, "n_topics": 3}, marks=pytest.mark.slow
    ),
]


@pytest.mark.parametrize("settings", METHODS, ids=lambda s: next(iter(s.values())))
def test_probabilities_are_better_than_the_shares_of_the_labels(settings, new):
    X, Y = draw_corpus(800, 1)
    model = small(**settings).fit(X, Y)
    unknown, truth = new
    found = model.predict_proba(unknown)
    assert log_loss(truth, found) < log_loss(truth, Y.mean(axis=0)) - 0.01
    assert abs(found.sum(axis=1).mean() - truth.sum(axis=1).mean()) < 0.15
    assert curve_of(found.ravel(), truth.ravel().astype(float)).calibration_error < 0.02


def test_each_label_is_as_frequent_as_it_is_likely(fitted, new):
    """Within the error of shares in 1,500 documents and in the 200 that offsets are known from."""
    unknown, truth = new
    found = fitted.predict_proba(unknown)
    error = np.sqrt(SHARES * (1.0 - SHARES) * (1.0 / 200.0 + 1.0 / 1500.0))
    assert (np.abs(found.mean(axis=0) - truth.mean(axis=0)) < 3.0 * error).all()


@pytest.fixture(scope="module")
def fits(fitted):
    """Topics of a single chain are chance: loss is looked at in the mean over four fits."""
    return [fitted, *(small(random_state=seed).fit(*draw_corpus(800, 1)) for seed in (1, 2, 3))]


@pytest.mark.parametrize("n", [0, 1, 2, 4, 8, 16])
def test_few_words_are_no_worse_than_none(fits, new, n):
    unknown, truth = new
    rng = np.random.default_rng(3)
    cut = np.array(
        [rng.multivariate_hypergeometric(row, min(n, row.sum())) for row in unknown.toarray()]
    )
    losses = [log_loss(truth, model.predict_proba(cut)) for model in fits]
    assert np.mean(losses) < log_loss(truth, truth.mean(axis=0)) + 0.005


def test_labels_without_a_word_of_their_own_have_their_shares():
    """Forty documents are held out; noise among them is not taken for knowledge."""
    X, Y = draw_corpus(800, 5, pull=0.0)
    unknown, truth = draw_corpus(1500, 6, pull=0.0)
    found = small().fit(X, Y).predict_proba(unknown)
    assert log_loss(truth, found) < log_loss(truth, SHARES) + 0.01


def test_streams_have_calibrated_probabilities_too(new):
    X, Y = draw_corpus(800, 1)
    model = small(sampler__n_documents=800)
    for first in range(0, 800, 200):
        model.partial_fit(X[first : first + 200], Y[first : first + 200])
    unknown, truth = new
    found = model.predict_proba(unknown)
    assert log_loss(truth, found) < log_loss(truth, truth.mean(axis=0))
    assert abs(found.sum(axis=1).mean() - truth.sum(axis=1).mean()) < 0.15


def test_models_saved_before_have_the_probabilities_of_their_thresholds(fitted, new, tmp_path):
    unknown = new[0][:50]
    fitted.save(tmp_path / "model")
    file = tmp_path / "model" / "manifest.json"
    np.testing.assert_array_equal(
        load(tmp_path / "model").predict_proba(unknown), fitted.predict_proba(unknown)
    )
    manifest = unsealed(file.read_bytes())
    del manifest["state"]["_link"]["fields"]["chances"]
    file.write_bytes(sealed(manifest))
    old = load(tmp_path / "model")
    np.testing.assert_array_equal(old.predict(unknown), fitted.predict(unknown))
    scores = old.decision_function(unknown)
    expected = expit(old.link_.slope * (scores - old.link_.cut))
    np.testing.assert_array_equal(old.predict_proba(unknown), expected)


def known_odds(n, seed):
    """Scores, and labels drawn with log odds that are linear in them."""
    rng = np.random.default_rng(seed)
    slopes, offsets = np.array([2.0, 1.5, 3.0]), np.array([0.0, -2.0, -4.0])
    scores = rng.normal(0.0, 1.0, (n, 3))
    odds = offsets + slopes * scores
    return scores, np.where(rng.random((n, 3)) < expit(odds), 1, -1), odds


def test_odds_are_found():
    scores, signs, _ = known_odds(20_000, 1)
    evidence = gather_evidence(signs, (signs > 0).mean(axis=0), 20_000)
    slopes, offsets = fit_odds(scores, evidence, margin=1.0)
    new, _, odds = known_odds(1000, 2)
    np.testing.assert_allclose(expit(offsets + slopes * new), expit(odds), atol=0.03)


def test_a_label_that_no_held_out_document_has_keeps_its_share():
    scores, signs, _ = known_odds(60, 3)
    signs[:, 2] = -1
    shares = np.array([0.5, 0.2, 0.05])
    slopes, offsets = fit_odds(scores, gather_evidence(signs, shares, 2000), margin=1.0)
    mean = expit(offsets + slopes * scores).mean(axis=0)
    assert 0.03 < mean[2] < 0.05  # 240 documents of which 5% have it, and 60 that have not
    assert slopes[2] > 0.5  # the others say what a score is worth


def test_separable_labels_have_finite_odds():
    scores = np.array([[-2.0, 5.0], [-1.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
    signs = np.array([[-1, 1], [-1, 1], [1, 1], [1, 1]])
    evidence = gather_evidence(signs, np.array([0.5, 0.99]), 100)
    found = learn_chances(
        np.vstack([scores, scores]), np.full(8, 50), evidence, np.zeros(2), margin=1.0
    )
    chances = found.probabilities(scores, np.full(4, 50))
    assert ((chances > 0.0) & (chances < 1.0)).all()
    assert chances[0, 0] < 0.2
    assert chances[3, 0] > 0.8


def test_slopes_of_the_likelihood_are_its_derivatives():
    _, signs, odds = known_odds(5, 4)
    evidence = Evidence(signs, np.array([0.4, 0.2, 0.1]), 20.0)

    def flat(z):
        return evidence.likelihood(z.reshape(5, 3))

    numeric = approx_fprime(odds.ravel(), flat, 1e-7)
    np.testing.assert_allclose(evidence.slope(odds).ravel(), numeric, atol=1e-4)


def test_sets_are_chosen_by_thresholds_and_not_by_even_odds(fitted, new):
    """F1 wants rare labels to be named before they are likely."""
    unknown, truth = new
    chosen, likely = fitted.predict(unknown), fitted.predict_proba(unknown) > 0.5
    assert slopes.f1_sum(chosen, truth) > slopes.f1_sum(likely.astype(int), truth)
    np.testing.assert_array_equal(
        chosen, slopes.choose(fitted.decision_function(unknown), fitted.link_.cut)
    )


def test_without_words_the_shares_in_training_are_left(fitted):
    nothing = np.zeros((1, 200), dtype=int)
    training = fitted._training
    shares = (training.n_labelled + 1.0) / (training.n_seen + 2.0)
    np.testing.assert_allclose(fitted.predict_proba(nothing)[0], shares, rtol=1e-9)
