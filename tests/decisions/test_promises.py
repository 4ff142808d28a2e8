"""Decisions keep what they promise."""

import numpy as np
import pytest

from bayesmargin.decisions import Abstention, Costs, PredictionSets, risk_curve
from bayesmargin.decisions.abstaining import upper_bound


def cases(rng, count, n_classes=3):
    """Probabilities and classes drawn from them."""
    table = rng.dirichlet(np.full(n_classes, 0.4), count)
    label = (rng.random((count, 1)) > np.cumsum(table, axis=1)).sum(axis=1)
    return table, np.minimum(label, n_classes - 1)


def test_the_cheapest_answer_is_given():
    rng = np.random.default_rng(0)
    table, label = cases(rng, 4000)
    matrix = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    decided = Costs(matrix).decide(table)
    assert (decided == (table @ matrix).argmin(axis=1)).all()
    paid = Costs(matrix).paid(decided, label)
    error = 4.0 / np.sqrt(len(label))
    assert paid < Costs(matrix).paid(table.argmax(axis=1), label)
    assert abs(paid - Costs(matrix).expected(table).min(axis=1).mean()) < 3.0 * error


def test_no_answer_is_given_where_it_is_cheaper():
    table = np.array([[0.95, 0.05], [0.5, 0.5]])
    costs = Costs([[0, 1], [1, 0]], no_answer=0.2)
    assert costs.decide(table).tolist() == [0, -1]
    assert costs.paid([0, -1], [0, 1]) == pytest.approx(0.1)
    assert costs.paid([1, -1], [0, 1]) == pytest.approx(0.6)


def test_the_risk_is_kept_in_95_of_100_samples():
    """In at least 95% of 300 samples, up to three of its standard errors; and it is not wasted."""
    rng = np.random.default_rng(1)
    table, label = cases(rng, 30_000)
    wrong = table.argmax(axis=1) != label
    kept, answered = [], []
    for _ in range(300):
        found = Abstention.at_risk(0.2, *cases(rng, 500))
        certain = found.answers(table)
        kept.append(not certain.any() or wrong[certain].mean() <= 0.2)
        answered.append(certain.mean())
    assert np.mean(kept) > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 300)
    curve = risk_curve(table, label)
    assert np.mean(answered) > 0.65 * max(curve.answered[curve.risk <= 0.2])


def test_no_row_is_answered_at_a_risk_that_nothing_keeps():
    table = np.full((200, 2), 0.5)
    found = Abstention.at_risk(0.1, table, np.arange(200) % 2)
    assert found.threshold == np.inf
    assert not found.answers(table).any()


def test_sets_cover_as_often_as_they_say():
    """On average over samples; the standard error of 400 samples of 99 rows is below 0.2%."""
    rng = np.random.default_rng(2)
    table, label = cases(rng, 50_000)
    own = table[np.arange(len(label)), label]
    found = [PredictionSets.at_coverage(0.9, *cases(rng, 99)) for _ in range(400)]
    covered = np.mean([(own >= one.threshold).mean() for one in found])
    assert abs(covered - 0.9) < 0.006
    sets = found[0].sets(table)
    assert sets.any(axis=1).all()
    assert (sets.sum() - found[0].sets(table, empty=True).sum()) == (
        ~found[0].sets(table, empty=True).any(axis=1)
    ).sum()


def test_few_rows_leave_no_class_out():
    table, label = cases(np.random.default_rng(3), 8)
    assert PredictionSets.at_coverage(0.9, table, label).sets(table).all()


def test_a_row_of_weight_two_is_two_rows():
    table, label = cases(np.random.default_rng(4), 300)
    twice = np.repeat(table, 2, axis=0), np.repeat(label, 2)
    weight = np.full(300, 2.0)
    assert Abstention.at_risk(0.1, *twice) == Abstention.at_risk(0.1, table, label, weight)
    once = PredictionSets.at_coverage(0.8, table, label, weight)
    assert PredictionSets.at_coverage(0.8, *twice) == once


def test_the_risk_curve_counts_errors_among_the_most_certain():
    table, label = cases(np.random.default_rng(5), 500)
    curve = risk_curve(table, label)
    certain = table.max(axis=1) >= curve.threshold[200]
    assert curve.answered[200] == pytest.approx(certain.mean())
    wrong = (table.argmax(axis=1) != label)[certain].mean()
    assert curve.risk[200] == pytest.approx(wrong)
    assert curve.at(1.0) == pytest.approx((table.argmax(axis=1) != label).mean())
    assert curve.area < curve.at(1.0)


def test_the_bound_is_the_one_of_clopper_and_pearson():
    from scipy.stats import binom

    bound = upper_bound(np.array([0.1]), np.array([50.0]), 0.05)[0]
    assert binom.cdf(5, 50, bound) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Costs([[0, 1]]), r"costs have the shape \(1, 2\)"),
        (lambda: Costs([[0, 1], [1, 0]]).decide([[0.2, 0.3, 0.5]]), "3 classes, but costs have 2"),
        (lambda: risk_curve([[0.5, 0.7]], [0]), "do not add up to one"),
        (lambda: risk_curve([[0.5, 0.5]], [2]), "they count from 0"),
        (lambda: risk_curve([[0.5, 0.5]], ["a"]), "give the class number"),
        (lambda: PredictionSets.at_coverage(90, [[0.5, 0.5]], [0]), "coverage=90 is not allowed"),
        (lambda: Costs([[0, 1], [1, 0]]).paid([-1], [0]), "names no price"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
