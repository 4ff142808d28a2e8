"""Curves of topic models over several chains, and what is read off them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from bayesmargin.experiments import medlda_documents, medlda_time, topic_curves
from bayesmargin.experiments.topic_curves import (
    NEAR,
    Corpus,
    accuracy,
    averaged,
    chain_seeds,
    compare,
    first_at,
    follow_all,
    held_out,
    search_costs,
)


def made_corpus(n_chains=2):
    rng = np.random.default_rng(0)
    y = np.arange(180) % 3
    rates = np.full((3, 30), 0.1) + np.kron(np.eye(3), np.ones(10))
    X = sp.csr_matrix(rng.poisson(rates[y]))
    passes = {"ssgrld": 2, "pa": 2, "gibbs": 3}
    return Corpus(
        "toy", "made up", X[:120], y[:120], X[120:], y[120:], accuracy, "ovr", 4, passes, n_chains
    )


def looks(chain, method, scores, seconds=1.0):
    return [
        {"corpus": "toy", "method": method, "chain": chain, "documents": 10 * (k + 1),
         "seconds": seconds * (k + 1), "score": score}
        for k, score in enumerate(scores)
    ]  # fmt: skip


def test_chains_are_averaged_look_by_look():
    rows = looks(0, "pa", [0.2, 0.6]) + looks(1, "pa", [0.4, 0.8], seconds=3.0)
    assert averaged(rows) == [
        {"documents": 10.0, "seconds": 2.0, "score": pytest.approx(0.3)},
        {"documents": 20.0, "seconds": 4.0, "score": pytest.approx(0.7)},
    ]


def test_a_level_that_is_never_reached_takes_forever():
    rows = looks(0, "pa", [0.2, 0.6])
    assert first_at(rows, 0.5, "documents") == 20
    assert first_at(rows, 0.7, "seconds") == np.inf


def test_the_common_level_and_the_factors_of_mean_and_chains():
    rows = []
    for chain, end in enumerate((0.8, 0.6)):
        rows += looks(chain, "ssgrld", [0.5, 0.7, 0.9])
        rows += looks(chain, "pa", [0.1, 0.2, 0.3])
        rows += looks(chain, "gibbs", [0.3, 0.5, end], seconds=10.0)
    costs = {"ssgrld": 1.0, "pa": 64.0, "gibbs": 4.0}
    table, facts = compare(made_corpus(), rows, "seconds", costs)
    assert facts["toy_level"] == pytest.approx(0.7 - NEAR)
    assert (facts["toy_ssgrld"], facts["toy_gibbs"], facts["toy_pa"]) == (2.0, 30.0, np.inf)
    assert facts["toy_ssgrld_gain"] == pytest.approx(15.0)
    # Chain 0 has its level at 0.78 (3 s against 30 s), chain 1 at 0.58 (2 s against 30 s).
    assert facts["toy_ssgrld_gain_least"] == pytest.approx(10.0)
    assert facts["toy_ssgrld_gain_most"] == pytest.approx(15.0)
    assert facts["toy_sweep"] == pytest.approx(10.0)
    # The best rival is Gibbs, 0.8 and 0.6 at its best look; all chains of SSGRLD agree.
    assert facts["toy_gap"] == pytest.approx(-0.2)
    assert facts["toy_gap_error"] == pytest.approx(0.1)
    assert [row["C"] for row in table] == [1.0, 64.0, 4.0]


def test_all_methods_are_followed_in_as_many_chains_as_asked_for():
    corpus = made_corpus()
    rows = follow_all(corpus, {"ssgrld": 1.0, "pa": 16.0, "gibbs": 4.0}, 0, 2.0)
    ends = {}
    for row in rows:
        ends[row["method"], row["chain"]] = row
    assert len(ends) == 6
    assert ends["ssgrld", 0]["documents"] == 240
    assert ends["gibbs", 1]["documents"] == 360
    assert all(end["score"] > 0.8 for end in ends.values())
    assert ends["ssgrld", 0]["seconds"] != ends["ssgrld", 1]["seconds"]


def test_costs_are_chosen_on_held_out_training_documents():
    trial = held_out(made_corpus(), 90, 1)
    assert trial.X.shape[0] == 90
    assert len(trial.truth) == 30
    assert trial.n_chains == 1
    costs, seconds = search_costs(trial, (1e-6, 4.0), 0)
    assert costs["ssgrld"] == costs["gibbs"] == 4.0  # a hinge that costs nothing learns nothing
    assert seconds > 0


def test_costs_are_judged_by_the_mean_over_chains(monkeypatch):
    def follow(corpus, method, cost, seed, growth):
        lucky = seed == 0 and cost == 1.0
        return looks(0, method, [0.9 if lucky else 0.5 + cost / 100])

    monkeypatch.setattr(topic_curves, "follow", follow)
    trial = held_out(made_corpus(), 90, 1)
    assert search_costs(trial, (1.0, 20.0), 0)[0]["gibbs"] == 1.0
    assert search_costs(replace(trial, n_chains=3), (1.0, 20.0), 0)[0]["gibbs"] == 20.0


def test_only_the_best_costs_are_followed_by_all_chains(monkeypatch):
    runs = []

    def follow(corpus, method, cost, seed, growth):
        runs.append((method, cost))
        return looks(0, method, [0.5 + cost / 100])

    monkeypatch.setattr(topic_curves, "follow", follow)
    trial = held_out(made_corpus(), 90, 3)
    assert search_costs(trial, (1.0, 9.0, 4.0), 0)[0] == {"ssgrld": 9.0, "pa": 9.0, "gibbs": 9.0}
    assert [runs.count(("pa", cost)) for cost in (1.0, 4.0, 9.0)] == [1, 3, 3]


def test_chains_have_seeds_of_their_own_and_the_first_has_the_given_one():
    assert chain_seeds(7, 1) == [7]
    seeds = chain_seeds(7, 3)
    assert seeds[0] == 7
    assert len(set(seeds)) == 3
    assert seeds == chain_seeds(7, 3)


@pytest.mark.parametrize(
    ("least", "most", "holds"), [(10.0, 12.0, True), (9.9, 12.0, None), (2.0, 9.9, False)]
)
def test_a_speed_holds_only_if_every_chain_shows_it(least, most, holds):
    facts = {"ssgrld_gain_least": least, "ssgrld_gain_most": most, "gap": 0.0, "gap_error": 0.001}
    facts = {f"{key}_{name}": value for key in ("wiki", "drawn") for name, value in facts.items()}
    assert [v.holds for v in medlda_time._verdicts(facts)] == [holds, True, holds, True]


@pytest.mark.parametrize(
    ("gap", "error", "holds"),
    [(0.01, 0.004, True), (0.01, 0.006, None), (0.03, 0.006, None), (0.03, 0.004, False),
     (-0.1, 0.01, True)],
)  # fmt: skip
def test_scores_are_comparable_by_two_standard_errors(gap, error, holds):
    facts = {"ssgrld_gain_least": 1.0, "ssgrld_gain_most": 2.0, "gap": gap, "gap_error": error}
    facts = {f"{key}_{name}": value for key in ("wiki", "drawn") for name, value in facts.items()}
    assert [v.holds for v in medlda_time._verdicts(facts)] == [False, holds, False, holds]


def test_fewer_documents_are_judged_by_the_factor_of_ten():
    facts = {"news_gibbs": 1000.0, "news_documents": 1000, "news_pa_gain": 12.0,
             "news_ssgrld_gain": 3.0}  # fmt: skip
    first, second = medlda_documents._verdicts(facts)
    assert (first.holds, second.holds) == (False, True)
    assert "after its first sweep" in first.evidence
