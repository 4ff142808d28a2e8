"""Topic models on the Wikipedia sample and on a million drawn documents: F1 against time."""

from typing import Any

from bayesmargin.datasets import fetch_wikipedia
from bayesmargin.experiments.drawing import panels
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.sizes import Setup
from bayesmargin.experiments.topic_curves import (
    MANY,
    NEAR,
    Corpus,
    compare,
    decided,
    draw_curves,
    follow_all,
    held_out,
    macro,
    micro,
    search_costs,
)
from bayesmargin.experiments.topic_runs import METHODS, DrawnCorpus

WIKIPEDIA = 1_100_000  # documents of the paper, and of the drawn corpus
TOPICS = 40
GRID = (1.0, 4.0, 16.0, 64.0, 256.0)
DRAWN = 0  # seed of the drawn corpus: a data set, the same whatever seed the chains have

TEXT = (
    "Left: micro F1 against time on the Wikipedia sample ({wiki_documents:,} documents; the paper "
    "has {paper_wiki:,}, which are not public), {wiki_topics} topics, one hinge for each of "
    "{wiki_labels} labels on shared topics. Right: macro F1 against time on {drawn_documents:,} "
    "documents drawn from a model fitted to 20 Newsgroups. Thick lines are the mean of "
    "{wiki_chains} and {drawn_chains} chains, which thin lines show. To the level that SSGRLD and "
    "Gibbs both reach in the mean, SSGRLD, paMedLDA and Gibbs take {wiki_ssgrld:.2f}, "
    "{wiki_pa:.2f} and {wiki_gibbs:.2f} s on the sample (F1 {wiki_level:.3f}), "
    "{drawn_ssgrld:.1f}, {drawn_pa:.1f} and {drawn_gibbs:.1f} s on the drawn corpus (F1 "
    "{drawn_level:.3f}; `inf`: not reached). First there: {wiki_first} and {drawn_first} (paper: "
    "SSGRLD). The cost of the hinge is searched for each method and corpus on documents held out, "
    "one chain a cost ({grid}) and {searches} for the two best: {wiki_ssgrld_cost:g}, "
    "{wiki_pa_cost:g} and {wiki_gibbs_cost:g} on the sample, {drawn_ssgrld_cost:g}, "
    "{drawn_pa_cost:g} and {drawn_gibbs_cost:g} on the drawn corpus. The seed moves the chains; "
    "the drawn corpus is one data set. A look takes the better of one draw and the mean over draws."
)
LABELS = {
    "wiki": ("processor seconds", "micro F1"),
    "drawn": ("processor seconds", "macro F1"),
}


def run(setup: Setup) -> Result:
    """Search the cost of the hinge for every method, then follow their chains on both corpora."""
    grid = setup.choose((4.0, 64.0), GRID)
    facts: dict[str, Any] = {
        "many": MANY,
        "near": NEAR,
        "grid": ", ".join(f"{cost:g}" for cost in grid),
        "searches": _n_searches(setup),
        "search_seconds": 0.0,
    }
    rows: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    figure, axes = panels(1, 2, 4.4, 3.4)
    for axis, make in zip(axes[0], (_wiki, _drawn), strict=True):
        corpus, trial = make(setup)
        costs, seconds = search_costs(trial, grid, setup.seed)
        found = follow_all(corpus, costs, setup.seed, setup.choose(2.0, 1.5))
        part, own = compare(corpus, found, "seconds", costs)
        rows, table, facts = rows + found, table + part, facts | own
        facts["search_seconds"] += seconds
        times = {METHODS[m]: facts[f"{corpus.key}_{m}"] for m in METHODS}
        facts[f"{corpus.key}_first"] = min(times, key=lambda name: times[name])
        if corpus.key == "wiki":
            facts["wiki_labels"] = corpus.y.shape[1]
        draw_curves(axis, found, corpus, "seconds", LABELS[corpus.key])
    axes[0, 0].legend(fontsize=8, frameon=False)
    return Result(
        title="Topic models: time to F1",
        text=TEXT,
        figure=figure,
        numbers=rows,
        facts=facts,
        paper={"paper_wiki": WIKIPEDIA},
        table=table,
        verdicts=_verdicts(facts),
    )


def _wiki(setup: Setup) -> tuple[Corpus, Corpus]:
    """The Wikipedia sample, and its training documents split for the search."""
    train, test = fetch_wikipedia(), fetch_wikipedia(subset="test")
    most = setup.choose(800, train.data.shape[0])
    new, truth = (part[: setup.choose(200, None)] for part in (test.data, test.target))
    stream = setup.choose(2, 5)
    passes = {"ssgrld": stream, "pa": stream, "gibbs": setup.choose(6, 60)}
    corpus = Corpus(
        "wiki", "Wikipedia sample", train.data[:most], train.target[:most], new, truth, micro,
        "multi_task", TOPICS, passes, setup.choose(2, 10),
    )  # fmt: skip
    return corpus, held_out(corpus, most * 3 // 4, _n_searches(setup))


def _drawn(setup: Setup) -> tuple[Corpus, Corpus]:
    """The drawn corpus, and more documents of its kind for the search.

    The search needs many: the cost that is best for Gibbs on 20,000 documents does clearly worse on
    a million than the one that is best on 100,000.
    """
    source = DrawnCorpus(setup.choose(2000, 10_000), TOPICS, setup.choose(1500, None), DRAWN)
    passes = {"ssgrld": 1, "pa": 1, "gibbs": setup.choose(6, 10, 40)}
    n_judges = setup.choose(200, 2000)

    def corpus(n_documents: int, n_chains: int) -> Corpus:
        X, y = source.draw(n_documents)
        return Corpus(
            "drawn", "drawn corpus", X, y, *source.draw(n_judges), macro, "multi_task", TOPICS,
            passes, n_chains,
        )  # fmt: skip

    return corpus(setup.choose(3000, WIKIPEDIA), setup.choose(2, 3, 5)), corpus(
        setup.choose(1500, 100_000), _n_searches(setup)
    )


def _n_searches(setup: Setup) -> int:
    """Chains for the best costs of the search: single ones can misjudge a method by 0.1."""
    return setup.choose(1, 3)


def _verdicts(facts: dict[str, Any]) -> list[Verdict]:
    """A speed is that of every pair of chains; F1 is comparable within NEAR, by two errors."""
    verdicts = []
    for key, name in (("wiki", "the Wikipedia sample"), ("drawn", "the drawn corpus")):
        least, most = facts[f"{key}_ssgrld_gain_least"], facts[f"{key}_ssgrld_gain_most"]
        fast = decided(bool(least >= MANY), bool(most < MANY))
        small = "" if fast else (
            f"; batch Gibbs makes a sweep over the {{{key}_documents:,}} documents in "
            f"{{{key}_sweep:.2f}} s"
        )  # fmt: skip
        gap, error = facts[f"{key}_gap"], facts[f"{key}_gap_error"]
        verdicts += [
            Verdict(
                f"on {name} SSGRLD is about {{many}} times faster than Gibbs MedLDA",
                fast,
                f"{{{key}_ssgrld:.2f}} against {{{key}_gibbs:.2f}} s in the mean, "
                f"{{{key}_ssgrld_gain:.1f}} times, {{{key}_ssgrld_gain_least:.1f}} to "
                f"{{{key}_ssgrld_gain_most:.1f}} times in single chains{small}",
            ),
            Verdict(
                f"on {name} SSGRLD has an F1 comparable with the others (within {{near}} of the "
                "best)",
                decided(bool(gap + 2 * error <= NEAR), bool(gap - 2 * error > NEAR)),
                f"Best {{{key}_ssgrld_best:.3f}}, paMedLDA {{{key}_pa_best:.3f}}, Gibbs "
                f"{{{key}_gibbs_best:.3f}} in the mean; it lacks {{{key}_gap:.3f}}, standard "
                f"error over chains {{{key}_gap_error:.3f}}",
            ),
        ]
    return verdicts
