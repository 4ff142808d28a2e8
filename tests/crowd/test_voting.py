"""The estimator: what it reads, what it answers, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bayesmargin import MaxMarginVoting
from bayesmargin.errors import DataError
from bayesmargin.models.crowd import dawid_skene, majority_vote, weighted_vote
from bayesmargin.samplers import LangevinMC, SubgradientHMC

SHORT = {"n_sweeps": 60, "n_chains": 2, "n_draws": 10, "random_state": 0}


def crowd(n_items=80, right=(0.9, 0.9, 0.8, 0.5, 0.1), n_classes=2, seed=0):
    """Labels of workers who are right as often as is said, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    rows = []
    for j, share in enumerate(right):
        wrong = (truth + rng.integers(1, n_classes, n_items)) % n_classes
        said = np.where(rng.random(n_items) < share, truth, wrong)
        rows += [(i, j, said[i]) for i in range(n_items)]
    return np.array(rows), truth


@pytest.fixture(scope="module")
def fitted():
    rows, truth = crowd(150, (0.9, 0.9, 0.85, 0.8, 0.1, 0.5))
    return MaxMarginVoting(n_sweeps=400, random_state=0).fit(rows), truth


def test_workers_who_are_wrong_are_worth_listening_to(fitted):
    model, truth = fitted
    assert (model.labels_ == truth).mean() > 0.93
    table = model.worker_table()
    accuracy, weight = table["accuracy"].to_numpy(), table["weight"].to_numpy()
    assert accuracy[4] < 0.25 < 0.4 < accuracy[5] < 0.6 < 0.75 < accuracy[0]
    assert weight[4] < 0.0 < weight[0]
    assert (table["accuracy 5%"] < table["accuracy"]).all()
    assert (table["accuracy"] < table["accuracy 95%"]).all()
    assert model.diagnostics_.trustworthy


def test_tables_tell_items_and_classes(fitted):
    model, _ = fitted
    table = model.item_table()
    assert table.index.name == "item"
    np.testing.assert_allclose(table[["p(0)", "p(1)"]].sum(axis=1), 1.0)
    assert (table["label"].to_numpy() == model.labels_).all()
    np.testing.assert_allclose(model.probability_.sum(axis=1), 1.0)


def test_new_items_are_judged_by_what_is_known_of_workers(fitted):
    model, _ = fitted
    asked = [("x", 0, 1), ("x", 1, 1), ("y", 4, 1), ("z", 0, 0), ("z", 4, 1)]
    chance = model.predict_proba(asked)[:, 1]
    assert chance[0] > 0.9
    assert chance[1] < 0.4
    assert chance[2] < 0.1
    assert model.predict(asked).tolist() == [1, 0, 0]
    with pytest.raises(DataError, match="worker 7 has no labels"):
        model.predict([(0, 7, 1)])
    with pytest.raises(DataError, match="label 5 is none"):
        model.predict([(0, 1, 5)])
    with pytest.raises(DataError, match="words or numbers"):
        model.predict([(0, "ann", 1)])


def test_forms_of_the_same_labels_give_the_same_answer():
    rows, _ = crowd(30)
    rows = rows[rows.sum(axis=1) % 3 > 0]  # not all workers see all items
    frame = pd.DataFrame(rows, columns=["task", "who", "what"])
    named = pd.DataFrame({"label": rows[:, 2], "item": rows[:, 0], "more": 1, "worker": rows[:, 1]})
    matrix = sparse.csr_array((rows[:, 2], (rows[:, 0], rows[:, 1])))
    first = MaxMarginVoting(**SHORT).fit(rows).probability_
    forms = (rows.tolist(), [tuple(row) for row in rows], frame, named, matrix, rows[::-1],
             rows.astype(float))  # fmt: skip
    for form in forms:
        model = MaxMarginVoting(**SHORT).fit(form)
        assert (model.probability_ == first).all()
        assert model.classes_.tolist() == [0, 1]


def test_words_name_items_workers_and_classes():
    rows, truth = crowd(30)
    words = [(f"item {i:02}", "abcde"[j], "cat" if k else "dog") for i, j, k in rows]
    model = MaxMarginVoting(**SHORT).fit(words)
    assert model.classes_.tolist() == ["cat", "dog"]
    assert model.workers_.tolist() == list("abcde")
    assert (model.labels_ == np.where(truth, "cat", "dog")).mean() > 0.8
    assert "weight[c]" in model.posterior_.summary().index


def test_known_labels_are_kept_and_teach():
    rows, truth = crowd(60, right=(0.35, 0.35, 0.35, 0.3, 0.75), seed=1)
    alone = MaxMarginVoting(**SHORT).fit(rows)
    told = {i: truth[i] for i in range(30)}
    for known in (
        told,
        pd.Series(told),
        pd.DataFrame({"item": told.keys(), "label": told.values()}),
    ):
        taught = MaxMarginVoting(**SHORT).fit(rows, known)
        assert (taught.labels_[:30] == truth[:30]).all()
        assert (taught.probability_.max(axis=1)[:30] == 1.0).all()
        assert (taught.labels_ == truth)[30:].mean() > (alone.labels_ == truth)[30:].mean() + 0.2
    with pytest.raises(DataError, match="item 99 has no labels"):
        MaxMarginVoting(**SHORT).fit(rows, {99: 1})


def test_three_classes_and_classes_that_nobody_names():
    rows, truth = crowd(60, right=(0.9, 0.9, 0.8, 0.8), n_classes=3)
    model = MaxMarginVoting(**SHORT).fit(rows)
    assert (model.labels_ == truth).mean() > 0.85
    wider = MaxMarginVoting(5, **SHORT).fit(rows)
    assert wider.probability_.shape == (60, 5)
    assert wider.probability_[:, 3:].mean() < 0.1
    with pytest.raises(DataError, match="n_classes=2 does not fit the 3 labels"):
        MaxMarginVoting(2, **SHORT).fit(rows)


def test_plain_vote_has_no_matrices():
    rows, truth = crowd(right=(0.9, 0.9, 0.8, 0.6))
    model = MaxMarginVoting(pseudo_counts=None, prior_mean=1.0, **SHORT).fit(rows)
    assert [*model.posterior_] == ["weight"]
    assert (model.labels_ == truth).mean() > 0.85
    assert model.predict_proba(rows[:5]).shape == (5, 2)
    assert "accuracy" not in model.worker_table()


def test_seeds_and_threads():
    rows, _ = crowd(30)
    one = MaxMarginVoting(**{**SHORT, "n_jobs": 1}).fit(rows)
    two = MaxMarginVoting(**{**SHORT, "n_jobs": 2}).fit(rows)
    other = MaxMarginVoting(**{**SHORT, "random_state": 1}).fit(rows)
    assert (one.posterior_["weight"] == two.posterior_["weight"]).all()
    assert (one.posterior_["weight"] != other.posterior_["weight"]).any()


@pytest.mark.parametrize(
    "sampler", ["lmc", LangevinMC(step=0.3), SubgradientHMC(n_steps=3, thin=2)]
)
def test_other_samplers_move_the_weights(sampler):
    rows, truth = crowd(40)
    model = MaxMarginVoting(sampler=sampler, **SHORT).fit(rows)
    assert (model.labels_ == truth).mean() > 0.8
    assert 0.2 < model.diagnostics_["accepted"] <= 1.0


def test_settings_are_those_of_the_library():
    model = MaxMarginVoting(sampler__step=0.2, C=2.0)
    assert model.get_params(deep=False)["sampler"] == SubgradientHMC(step=0.2)
    assert clone(model).sampler == model.sampler
    assert model.set_params(sampler__n_steps=4).sampler.n_steps == 4
    with pytest.raises(NotFittedError):
        model.predict([(0, 0, 0)])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"C": 0.0}, "C=0.0"),
        ({"margin": None}, "margin=None"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"prior_mean": np.inf}, "prior_mean=inf"),
        ({"pseudo_counts": (1.0, 0.0)}, "pseudo_counts"),
        ({"pseudo_counts": None, "prior_mean": 0.0}, "prior_mean=0.0 is not allowed without"),
        ({"sampler": "gibbs"}, "sampler='gibbs'"),
        ({"sampler": SubgradientHMC(mass="dense")}, "mass"),
        ({"n_sweeps": 10, "sampler": SubgradientHMC(burn_in=10)}, "burn_in=10"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_settings_are_named(settings, match):
    with pytest.raises(ValueError, match=match):
        MaxMarginVoting(**settings).fit([(0, 0, 0), (0, 1, 1)])


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ([], "there are no labels"),
        ([(0, 0, 1), (0, 1)], "row 1 of the labels"),
        (np.eye(4), "row 0 of the labels .* SciPy sparse"),
        ([(0, 0, 1), (1, 0, 1)], "all labels are 1"),
        ([(0, 0, 1), (0, 1, None)], "no label in row 1"),
        ([(0, None, 1), (0, 1, 0)], "no worker in row 0"),
        ([(0, 0, 1), (1, 0, 0), (0, 0, 0)], "rows 0 and 2 .* same worker for the same item"),
        (pd.DataFrame(np.eye(4)), "has the columns 0, 1, 2, 3"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(labels, match):
    with pytest.raises(DataError, match=match):
        MaxMarginVoting(**SHORT).fit(labels)


def test_votes_of_others_agree_on_an_easy_crowd():
    rows, truth = crowd(right=(0.9, 0.9, 0.9, 0.8, 0.8))
    for vote in (majority_vote, weighted_vote, dawid_skene):
        found = vote(rows)
        np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)
        assert (found.label == truth).mean() > 0.85


def test_dawid_and_skene_see_through_a_worker_who_is_always_wrong():
    rows, truth = crowd(200, right=(0.8, 0.75, 0.75, 0.1))
    assert (dawid_skene(rows).label == truth).mean() > (majority_vote(rows).label == truth).mean()
