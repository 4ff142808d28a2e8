"""Links from scores to probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from bayesmargin.calibration.maps import BinaryLink, MulticlassLink, fit_link, tempered


def test_binary_link_recovers_its_slopes_and_its_caution():
    rng = np.random.default_rng(1)
    scores, variance = 2.0 * rng.standard_normal(60_000), 4.0 * rng.random(60_000) ** 3
    truth = BinaryLink(1.0, np.array([0.4, 1.5, 2.5, 0.8]), 0.6)
    label = (rng.random(60_000) < truth.probabilities(scores, variance)[:, 1]).astype(int)
    found = fit_link(scores, variance, label, np.ones(60_000), 1.0, 1.0)
    np.testing.assert_allclose(found.slopes, truth.slopes, rtol=0.15)
    assert found.caution == pytest.approx(0.6, rel=0.15)


@pytest.mark.parametrize("mean", [-3.0, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("sd", [0.1, 1.0, 4.0])
def test_doubtful_scores_have_the_mean_of_their_probabilities(mean, sd):
    """Against quadrature: the approximation is known to be good to one or two hundredths."""
    grid = np.linspace(-12.0, 12.0, 20_001)
    weight = np.exp(-0.5 * grid**2)
    expected = np.average(expit(1.3 * (mean + sd * grid)), weights=weight)
    found, _ = tempered(np.array([1.3 * mean]), np.array([mean]), np.array([sd**2]))
    assert expit(found[0]) == pytest.approx(expected, abs=0.02)


def test_a_score_of_zero_or_next_to_it_has_even_odds():
    score = np.array([0.0, 1e-310, -1e-200, 1e-100])
    link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]), 1.0)
    np.testing.assert_allclose(link.probabilities(score, np.full(4, 1e3)), 0.5)
    link = MulticlassLink(1.0, np.array([1.0, 0.1]), 1.0)
    even = link.probabilities(np.zeros((2, 4)), np.full((2, 4), 1e3))
    np.testing.assert_allclose(even, 0.25)


def test_the_less_is_known_of_a_score_the_closer_are_the_odds_to_even():
    """As the variance grows without end they end there; logits of known scores are linear."""
    variance = np.array([0.0, 1.0, 10.0, 1e3, 1e9])
    link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]), 1.0)
    upper = link.probabilities(np.full(5, 3.0), variance)[:, 1]
    assert logit(upper[0]) == pytest.approx(4.0)
    assert np.all(np.diff(upper) < 0)
    assert upper[-1] == pytest.approx(0.5, abs=1e-4)
    scores = np.tile([3.0, 1.0, 0.0], (5, 1))
    many = MulticlassLink(1.0, np.array([1.0, 0.1]), 1.0)
    top = many.probabilities(scores, variance[:, None] * [0.0, 1.0, 1.0])[:, 0]
    assert np.all(np.diff(top) < 0)
    assert top[-1] == pytest.approx(1 / 3, abs=1e-4)


def test_links_never_change_the_predicted_class():
    rng = np.random.default_rng(2)
    scores, variance = 3.0 * rng.standard_normal(5000), rng.gamma(0.5, 4.0, 5000)
    link = BinaryLink(1.0, rng.uniform(0.1, 3.0, 4), 0.8)
    np.testing.assert_array_equal(link.probabilities(scores, variance).argmax(axis=1), scores > 0)
    alike = link.probabilities(scores, np.full(5000, 2.0))
    assert np.all(np.diff(alike[np.argsort(scores), 1]) >= 0)
    many, variance = 2.0 * rng.standard_normal((5000, 5)), rng.gamma(0.5, 4.0, (5000, 5))
    multi = MulticlassLink(1.0, rng.uniform(0.1, 3.0, 2), 0.8).probabilities(many, variance)
    np.testing.assert_array_equal(multi.argmax(axis=1), many.argmax(axis=1))
    np.testing.assert_allclose(multi.sum(axis=1), 1.0)


def test_pseudo_likelihood_slopes_give_the_pseudo_likelihood():
    scores = np.linspace(-3, 3, 61)
    log_psi = [-np.maximum(1.0 - sign * scores, 0.0) for sign in (-1.0, 1.0)]
    expected = expit(log_psi[1] - log_psi[0])
    link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]))
    np.testing.assert_allclose(link.probabilities(scores, np.zeros(61))[:, 1], expected)
    scores = np.random.default_rng(0).standard_normal((40, 3))
    rival = [np.delete(scores, k, axis=1).max(axis=1) for k in range(3)]
    psi = np.exp(-np.maximum(1.0 + np.transpose(rival) - scores, 0.0))
    many = MulticlassLink(1.0, np.array([1.0, 0.0]))
    expected = psi / psi.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(many.probabilities(scores, np.zeros((40, 3))), expected)


def test_few_rows_stay_near_the_pseudo_likelihood():
    link = fit_link(np.array([0.3, -0.2]), np.ones(2), np.array([1, 0]), np.ones(2), 1.0, 1.0)
    np.testing.assert_allclose(link.slopes, [1.0, 2.0, 2.0, 1.0], rtol=0.5)
    assert link.caution == pytest.approx(1.0, rel=0.5)


def test_rows_that_look_unknown_only_if_they_are_right_teach_no_boldness():
    """One in fifty, of large variance, all on the side of their label, as with rare features."""
    rng = np.random.default_rng(1)
    scores, variance = 2.0 * rng.standard_normal(60_000), 4.0 * rng.random(60_000) ** 3
    truth = BinaryLink(1.0, np.array([0.4, 1.5, 2.5, 0.8]), 0.6)
    label = (rng.random(60_000) < truth.probabilities(scores, variance)[:, 1]).astype(int)
    scores[::50], variance[::50] = 10.0 * scores[::50], 400.0
    label[::50] = scores[::50] > 0.0
    found = fit_link(scores, variance, label, np.ones(60_000), 1.0, 1.0)
    assert found.reach == pytest.approx(10.0 * np.median(variance))
    assert found.caution == pytest.approx(0.6, rel=0.15)
    doubtful = found.probabilities(np.array([20.0]), np.array([400.0]))[0, 1]
    certain = replace(found, caution=1.0).probabilities(np.array([20.0]), np.array([400.0]))[0, 1]
    assert doubtful == pytest.approx(certain, abs=0.01)


@pytest.mark.parametrize("kind", [BinaryLink, MulticlassLink])
def test_variance_counts_by_the_caution_and_in_full_beyond_the_reach(kind):
    link = kind(1.0, np.ones(4), 0.2, None, 3.0)
    np.testing.assert_allclose(link.counted(np.array([0.0, 2.0, 3.0, 5.0])), [0.0, 0.4, 0.6, 2.6])
    assert kind(1.0, np.ones(4), 0.2).counted(np.array([1e9])) == pytest.approx(2e8)
    assert kind(1.0, np.ones(4), 7.0, None, 3.0).counted(np.array([1e9])) == pytest.approx(7e9)


@pytest.mark.parametrize("tail", [1.0, 300.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_link_is_where_the_penalised_likelihood_is_largest(n_classes, tail):
    rng = np.random.default_rng(5)
    label = rng.integers(n_classes, size=400)
    scores = rng.standard_normal((400, n_classes)) + 1.5 * np.eye(n_classes)[label]
    scores = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    weight, variance = rng.uniform(0.5, 2.0, 400), rng.uniform(0.0, 2.0, scores.shape)
    variance[::10] *= tail
    found = fit_link(scores, variance, label, weight, 1.0, 1.0)
    assert (variance > found.reach).any() == (tail > 1.0)
    centre = np.log([1.0, 2.0, 2.0, 1.0, 1.0] if n_classes == 2 else [1.0, 0.1, 1.0])

    def penalised(logs):
        link = type(found)(1.0, np.exp(logs[:-1]), np.exp(logs[-1]), None, found.reach)
        fit = weight @ np.log(link.probabilities(scores, variance)[np.arange(400), label])
        return fit - 0.5 * np.sum((logs - centre) ** 2)

    best = np.log([*found.slopes, found.caution])
    for k in range(len(best)):
        for move in (-0.02, 0.02):
            assert penalised(best + move * np.eye(len(best))[k]) < penalised(best)


@pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_parts_teach_a_link_what_all_rows_do(n_classes):
    """Also where every part is of one class, from which alone nothing could be learned."""
    rng = np.random.default_rng(6)
    label = np.arange(4000) % n_classes
    scores = rng.standard_normal((4000, n_classes)) + 1.5 * np.eye(n_classes)[label]
    scores = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    weight, variance = rng.uniform(0.5, 2.0, 4000), rng.uniform(0.0, 0.5, scores.shape)
    whole = fit_link(scores, variance, label, weight, 1.0, 1.0)
    expected = whole.probabilities(scores, variance)
    for order in (np.arange(4000), np.argsort(np.arange(4000) // 200 * n_classes + label)):
        link = None
        for part in np.split(order, 80):
            link = fit_link(scores[part], variance[part], label[part], weight[part], 1.0, 1.0, link)
        found = link.probabilities(scores, variance)
        assert np.abs(found - expected).mean() < 0.02
