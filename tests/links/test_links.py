"""The estimator: what it reads, what it answers, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bayesmargin import MaxMarginLinks
from bayesmargin.errors import DataError
from bayesmargin.models.links.pairs import fewer_negatives
from bayesmargin.models.links.reading import pairs_of, read_links
from bayesmargin.samplers import SSGNHT, SubgradientHMC

SHORT = {"n_sweeps": 30, "n_chains": 2, "n_draws": 8, "random_state": 0}


def blocks(n=24, inside=0.9, outside=0.05, directed=False, seed=0):
    """Links of three groups; those of directed ones go from a group to the next."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    near = group[:, None] == (group - directed) % 3
    links = (rng.random((n, n)) < np.where(near, inside, outside)).astype(float)
    if not directed:
        links = np.triu(links, 1)
        links += links.T
    np.fill_diagonal(links, 0.0)
    return links, near


def hidden(links, share=0.15, seed=1, directed=False):
    """Links with NaN for a share of the pairs, and these pairs."""
    rng = np.random.default_rng(seed)
    away = np.triu(rng.random(links.shape) < share, 1)
    if directed:
        away = away | np.tril(rng.random(links.shape) < share, -1)
    shown = links.copy()
    shown[away] = np.nan
    if not directed:
        shown.T[away] = np.nan
    return shown, np.argwhere(away)


@pytest.mark.parametrize("directed", [False, True])
def test_links_that_were_hidden_are_found(directed):
    links, near = blocks(directed=directed)
    shown, pairs = hidden(links, directed=directed)
    model = MaxMarginLinks(
        directed, C=2.0, n_sweeps=90, n_chains=2, random_state=0
    ).fit(shown)  # fmt: skip
    chance = model.predict_proba(pairs)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    inside = near[pairs[:, 0], pairs[:, 1]]
    assert chance[inside, 1].mean() > 0.7
    assert chance[~inside, 1].mean() < 0.2
    assert (model.predict(pairs) == (chance[:, 1] > 0.5)).all()
    low, high = model.predict_interval(pairs).T
    assert (low < high).all()
    matrix = model.probability_matrix()
    np.testing.assert_allclose(matrix[pairs[:, 0], pairs[:, 1]], chance[:, 1])
    assert directed or np.allclose(matrix, matrix.T)
    assert model.n_features_.shape == (2, 45)
    assert sorted(model.order()) == list(range(24))


def test_entities_of_a_group_share_features():
    links, near = blocks(inside=0.95, outside=0.0)
    model = MaxMarginLinks(C=2.0, n_sweeps=90, n_chains=2, random_state=0).fit(links)
    shared = model.co_features()
    assert shared[near].mean() > 2.0 * shared[~near].mean()


def test_forms_of_the_same_links_give_the_same_answer():
    links, _ = blocks(12)
    names = [f"n{i:02}" for i in range(12)]
    first = MaxMarginLinks(**SHORT).fit(links)
    upper = np.argwhere(np.triu(links))
    table = pd.DataFrame({"source": upper[:, 0], "target": upper[:, 1]})
    told = pd.DataFrame(
        [(i, j, links[i, j]) for i in range(12) for j in range(i)],
        columns=["source", "target", "link"],
    )
    named = pd.DataFrame(links, index=names, columns=names)
    for form in (links.tolist(), links[None], sparse.csr_array(links), {"knows": links}, table,
                 told, named):  # fmt: skip
        model = MaxMarginLinks(**SHORT).fit(form)
        assert (model.probability_matrix() == first.probability_matrix()).all()
    assert model.entities_.tolist() == names
    assert (model.predict_proba([("n00", "n03")]) == first.predict_proba([(0, 3)])).all()


def test_several_relations_have_weights_of_their_own():
    likes, _ = blocks(18, directed=True)
    model = MaxMarginLinks(True, C=2.0, n_sweeps=80, n_chains=2, random_state=0)
    model.fit({"likes": likes, "is liked by": likes.T})
    assert model.relations_.tolist() == ["likes", "is liked by"]
    forth = model.predict_proba([(0, 1, "likes"), (1, 0, "likes")])[:, 1]
    back = model.predict_proba([(0, 1, "is liked by"), (1, 0, "is liked by")])[:, 1]
    assert forth[0] > 0.6 > 0.4 > forth[1]
    assert back[1] > 0.6 > 0.4 > back[0]
    with pytest.raises(DataError, match="2 relations: say"):
        model.predict([(0, 1)])
    with pytest.raises(ValueError, match="relation=None is not allowed"):
        model.probability_matrix()


def test_balanced_links_weigh_as_much_as_all_other_pairs():
    links, _ = blocks(24, inside=0.4, outside=0.0)
    number, pairs = np.triu(links).sum(), 24 * 23 / 2
    told = MaxMarginLinks(link_weight=(pairs - number) / number, **SHORT).fit(links)
    model = MaxMarginLinks(link_weight="balanced", **SHORT).fit(links)
    assert (model.probability_matrix() == told.probability_matrix()).all()


def test_pairs_without_a_link_can_be_sampled():
    links, near = blocks(30, outside=0.02)
    asked = pairs_of(read_links(links), False)
    few = fewer_negatives(asked, 1.0, np.random.default_rng(0))
    assert few.weight.sum() == pytest.approx(len(asked.source))
    assert (few.weight[few.linked > 0] == 1.0).all()
    model = MaxMarginLinks(negatives=1.0, **SHORT).fit(links)
    away = ~np.eye(30, dtype=bool)
    chance = model.probability_matrix()
    assert chance[near & away].mean() > 2.0 * chance[~near].mean()


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("lmc", "ssgld", "sghmc")]


@pytest.mark.parametrize("sampler", ["hmc", "ssgnht", *SLOW])
def test_weights_move_by_any_dynamics(sampler):
    links, near = blocks(18, inside=0.95, outside=0.0)
    model = MaxMarginLinks(sampler=sampler, C=2.0, n_sweeps=60, n_chains=2, random_state=0)
    chance = model.fit(links).probability_matrix()
    away = ~np.eye(18, dtype=bool)
    assert chance[near & away].mean() > 3.0 * chance[~near].mean()


def test_seeds_decide_and_threads_do_not():
    links, _ = blocks(12)
    found = [
        MaxMarginLinks(**{**SHORT, "random_state": seed, "n_jobs": jobs})
        .fit(links)
        .probability_matrix()
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    ]
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_what_cannot_be_read_is_refused_in_words():
    links, _ = blocks(9)
    model = MaxMarginLinks(**SHORT)
    one_way = links.copy()
    one_way[tuple(np.argwhere(links)[0])] = 0.0
    for wrong, message in (
        (one_way, "in one direction only"),
        (links[:-1], "square"),
        (2.0 * links, "it is 1, 0, or NaN"),
        (np.zeros((5, 5)), "no link: both kinds are needed"),
        (np.ones((2, 2)), "at least 3"),
        (pd.DataFrame(links), None),
        (pd.DataFrame(links[:, :3]), "square"),
    ):
        if message is None:
            model.fit(wrong)
            continue
        with pytest.raises(DataError, match=message):
            model.fit(wrong)
    with pytest.raises(DataError, match="not seen the entity 99"):
        model.predict([(0, 99)])
    with pytest.raises(DataError, match="pairs are rows"):
        model.predict([(0, 1, 2, 3)])
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval([(0, 1)], coverage=1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": -1.0}, "C=-1.0"),
        ({"link_weight": 0.0}, "link_weight"),
        ({"link_weight": "equal"}, "link_weight"),
        ({"negatives": -2.0}, "negatives"),
        ({"concentration": "some"}, "concentration"),
        ({"directed": 3}, "directed"),
        ({"sampler": "srwm"}, "sampler"),
        ({"sampler": SSGNHT(preconditioner="adagrad", step=0.1)}, "preconditioner"),
        ({"n_sweeps": 0}, "n_sweeps"),
    ],
)
def test_settings_that_are_not_allowed_are_named(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MaxMarginLinks(**settings).fit(blocks(9)[0])


def test_it_is_an_estimator():
    model = MaxMarginLinks(sampler=SubgradientHMC(length=1.0), C=2.0)
    assert clone(model).get_params()["C"] == 2.0
    assert clone(model).sampler.length == 1.0
    with pytest.raises(NotFittedError):
        model.predict([(0, 1)])
    with pytest.raises(AttributeError, match="fit it first"):
        _ = model.diagnostics_
