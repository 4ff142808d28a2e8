"""Topic models: accuracy against documents processed, and F1 against time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_wikipedia
from bayesmargin.experiments.drawing import panels
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.sizes import Setup
from bayesmargin.experiments.topic_runs import (
    METHODS,
    DrawnCorpus,
    TopicRun,
    compile_methods,
    newsgroups,
)
from bayesmargin.models.medlda.documents import check_counts, to_documents
from bayesmargin.models.medlda.parameters import COSTS
from bayesmargin.plots import ACCENT, INK

COLOURS = {"ssgrld": ACCENT, "pa": "#2563eb", "gibbs": INK}
NEAR = 0.02  # below the lower of two ends: what both have reached
MANY = 10
WIKIPEDIA = 1_100_000  # documents of the paper, and of the drawn corpus
TOPICS = {"news": 50, "wiki": 40, "drawn": 40}
PANELS = {
    "news": ("documents processed", "test accuracy"),
    "wiki": ("processor seconds", "micro F1"),
    "drawn": ("processor seconds", "macro F1"),
}

TEXT = (
    "Left: test accuracy against documents processed on 20 Newsgroups ({news_classes} groups, "
    "{news_documents:,} documents, "
    "one binary model with {news_topics} topics for each class, as in the paper; a document that "
    "all of them read counts once). "
    "Middle: micro F1 against time on the Wikipedia sample ({wiki_documents:,} documents; the "
    "paper has {paper_wiki:,}, which are not "
    "public), {wiki_topics} topics, one hinge for each of {wiki_labels} labels on shared topics. "
    "Right: macro F1 against time on "
    "{drawn_documents:,} documents drawn from a fitted model. "
    "To the level that SSGRLD and Gibbs both reach ({news_level:.3f}) SSGRLD reads "
    "{news_ssgrld:,.0f} documents, paMedLDA {news_pa:,.0f}, batch "
    "Gibbs {news_gibbs:,.0f}. On the Wikipedia sample ({wiki_level:.3f}) the times are "
    "{wiki_ssgrld:.2f}, {wiki_pa:.2f} and {wiki_gibbs:.2f} s, "
    "on the drawn corpus ({drawn_level:.3f}) {drawn_ssgrld:.2f}, {drawn_pa:.2f} and "
    "{drawn_gibbs:.2f} s (`inf`: not reached). The cost of the hinge is the library's default for "
    "each method ({cost_ssgrld:g} for SSGRLD, {cost_pa:g} for paMedLDA and {cost_gibbs:g} for "
    "Gibbs), which is the one that did best on training documents of 20 Newsgroups held out."
)


def run(setup: Setup) -> Result:
    """Follow the three methods on the three corpora."""
    growth = setup.choose(2.0, 1.5)  # of documents between two looks
    rows: list[dict[str, Any]] = []
    facts: dict[str, Any] = {"many": MANY} | {f"cost_{m}": COSTS[m] for m in METHODS}
    for key, load in {"news": _news, "wiki": _wiki, "drawn": _drawn}.items():
        X, y, new, truth, score, passes = load(setup, facts)
        rule = "ovr" if key == "news" else "multi_task"
        facts |= {f"{key}_documents": X.shape[0], f"{key}_topics": TOPICS[key]}
        compile_methods(3, rule)
        for method in METHODS:
            model = MedLDAClassifier(
                n_topics=TOPICS[key],
                method=method,
                multi_class=rule,
                n_chains=1,
                batch_size=min(256, max(16, X.shape[0] // 20)),
                random_state=setup.seed,
            )
            rows += [
                {"corpus": key, "method": method, **look}
                for look in _follow(model, X, y, new, truth, score, passes[method], growth)
            ]
    table = _table(rows, facts)
    return Result(
        title="Topic models: documents and time to accuracy",
        text=TEXT,
        figure=_draw(rows),
        numbers=rows,
        facts=facts,
        paper={"paper_wiki": WIKIPEDIA},
        table=table,
        verdicts=_verdicts(facts),
    )


Scorer = Callable[[Any, Any], float]


def _follow(
    model: MedLDAClassifier,
    X: Any,
    y: Any,
    new: Any,
    truth: Any,
    score: Scorer,
    n_passes: int,
    growth: float,
) -> list[dict[str, Any]]:
    """Figures of one chain as it learns: the better of its last draw and of all kept ones."""
    looks, following = [], 0.0
    run = TopicRun(model, X, y)
    n_steps = n_passes if model.method == "gibbs" else np.inf
    documents = to_documents(check_counts(new, "experiment"))
    for step in run.steps(n_passes):
        last = step == n_steps or run.documents_seen >= n_passes * X.shape[0]
        if run.documents_seen < following and not last:
            continue
        following = run.documents_seen * growth
        found = [
            score(truth, run.training.code.decide(run.scores(documents, draws), 0.0))
            for draws in (1, None)
        ]
        looks.append(
            {"documents": run.documents_seen, "seconds": run.watch.seconds, "score": max(found)}
        )
    run.training.close()
    return looks


def _accuracy(truth: Any, found: Any) -> float:
    return float(np.mean(truth == found))


def _micro(truth: Any, found: Any) -> float:
    return float(f1_score(truth, found, average="micro", zero_division=0))


def _macro(truth: Any, found: Any) -> float:
    return float(f1_score(truth, found, average="macro", zero_division=0))


def _passes(gibbs: int, stream: int = 1) -> dict[str, int]:
    return {"ssgrld": stream, "pa": stream, "gibbs": gibbs}


def _news(setup: Setup, facts: dict[str, Any]) -> tuple[Any, ...]:
    classes = np.arange(0, 20, 5) if setup.size == "quick" else None
    X, y, _, _ = newsgroups("train", classes, setup.choose(5000, None))
    new, truth, _, _ = newsgroups("test", classes, setup.choose(5000, None))
    facts["news_classes"] = len(np.unique(y))
    some = np.linspace(0, len(truth) - 1, setup.choose(150, 1500, len(truth))).astype(int)
    return X, y, new[some], truth[some], _accuracy, _passes(setup.choose(8, 15, 60))


def _wiki(setup: Setup, facts: dict[str, Any]) -> tuple[Any, ...]:
    train, test = fetch_wikipedia(), fetch_wikipedia(subset="test")
    facts["wiki_labels"] = train.target.shape[1]
    most = setup.choose(1500, train.data.shape[0])
    passes = _passes(setup.choose(8, 60), setup.choose(2, 5))
    new, truth = (part[: setup.choose(400, None)] for part in (test.data, test.target))
    return train.data[:most], train.target[:most], new, truth, _micro, passes


def _drawn(setup: Setup, facts: dict[str, Any]) -> tuple[Any, ...]:
    corpus = DrawnCorpus(
        setup.choose(2000, 10_000), TOPICS["drawn"], setup.choose(3000, None), setup.seed
    )
    X, y = corpus.draw(setup.choose(4000, WIKIPEDIA))
    new, truth = corpus.draw(setup.choose(300, 2000))
    return X, y, new, truth, _macro, _passes(setup.choose(8, 10, 40))


def _table(rows: list[dict[str, Any]], facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Documents and seconds of every method to the level that SSGRLD and Gibbs both reach."""
    table = []
    for key, (axis, _) in PANELS.items():
        own = {m: [r for r in rows if r["corpus"] == key and r["method"] == m] for m in METHODS}
        best = {m: max(r["score"] for r in group) for m, group in own.items()}
        level = facts[f"{key}_level"] = min(best["ssgrld"], best["gibbs"]) - NEAR
        for method, group in own.items():
            reached = [r for r in group if r["score"] >= level]
            first = reached[0] if reached else {"documents": np.inf, "seconds": np.inf}
            facts[f"{key}_{method}"] = first["documents" if axis[0] == "d" else "seconds"]
            facts[f"{key}_{method}_best"] = best[method]
            table.append(
                {
                    "corpus": {"news": "20 Newsgroups", "wiki": "Wikipedia sample",
                               "drawn": "drawn corpus"}[key],
                    "method": METHODS[method],
                    "best score": best[method],
                    "documents to the common level": first["documents"],
                    "seconds to it": first["seconds"],
                }
            )  # fmt: skip
        end = own["gibbs"][-1]
        facts[f"{key}_sweep"] = end["seconds"] / end["documents"] * facts[f"{key}_documents"]
        for method in ("ssgrld", "pa"):
            facts[f"{key}_{method}_gain"] = facts[f"{key}_gibbs"] / facts[f"{key}_{method}"]
    return table


def _verdicts(facts: dict[str, Any]) -> list[Verdict]:
    fewer = {m: facts[f"news_{m}_gain"] >= MANY for m in ("ssgrld", "pa")}
    first = facts["news_gibbs"] <= facts["news_documents"]
    soon = (
        "; our Gibbs is there after its first sweep, which updates its counts word by word and so "
        "learns as it goes, like an online method"
    )
    why = {
        m: ""
        if fewer[m]
        else f"; best accuracy {{news_{m}_best:.3f}}, Gibbs {{news_gibbs_best:.3f}}"
        + (soon if first else "")
        for m in fewer
    }
    verdicts = [
        Verdict(
            f"20 Newsgroups: {METHODS[m]} needs {{many}} times fewer documents than batch Gibbs",
            bool(fewer[m]),
            f"{{news_{m}:,.0f}} against {{news_gibbs:,.0f}} documents, {{news_{m}_gain:.1f}} "
            f"times fewer{why[m]}",
        )
        for m in fewer
    ]
    for key, name in (("wiki", "the Wikipedia sample"), ("drawn", "the drawn corpus")):
        fast = facts[f"{key}_ssgrld_gain"] >= MANY
        small = "" if fast else (
            f"; batch Gibbs makes a sweep over the {{{key}_documents:,}} documents in "
            f"{{{key}_sweep:.2f}} s"
        )  # fmt: skip
        verdicts += [
            Verdict(
                f"on {name} SSGRLD is about {{many}} times faster than Gibbs MedLDA",
                bool(fast),
                f"{{{key}_ssgrld:.2f}} against {{{key}_gibbs:.2f}} s, {{{key}_ssgrld_gain:.1f}} "
                f"times{small}",
            ),
            Verdict(
                f"on {name} SSGRLD has an F1 comparable with the others",
                facts[f"{key}_ssgrld_best"]
                >= max(facts[f"{key}_pa_best"], facts[f"{key}_gibbs_best"]) - NEAR,
                f"Best {{{key}_ssgrld_best:.3f}}, paMedLDA {{{key}_pa_best:.3f}}, Gibbs "
                f"{{{key}_gibbs_best:.3f}}",
            ),
        ]
    return verdicts


def _draw(rows: list[dict[str, Any]]) -> Any:
    figure, axes = panels(1, len(PANELS), 3.6, 3.2)
    titles = {"news": "20 Newsgroups", "wiki": "Wikipedia sample", "drawn": "drawn corpus"}
    for axis, (key, (across, up)) in zip(axes[0], PANELS.items(), strict=True):
        for method, name in METHODS.items():
            own = [r for r in rows if r["corpus"] == key and r["method"] == method]
            x = [r["documents" if across[0] == "d" else "seconds"] for r in own]
            axis.plot(x, [r["score"] for r in own], "o-", color=COLOURS[method], ms=3, lw=1.2,
                      label=name)  # fmt: skip
        axis.set_xscale("log")
        axis.set_xlabel(across, fontsize=9)
        axis.set_ylabel(up, fontsize=9)
        axis.set_title(titles[key], fontsize=9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure
