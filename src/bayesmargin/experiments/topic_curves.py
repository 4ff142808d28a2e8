"""Topic models judged while they learn, over several chains, and what each needs to a level."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from bayesmargin import MedLDAClassifier
from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.experiments.topic_runs import METHODS, TopicRun, compile_methods
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.models.medlda.documents import check_counts, to_documents
from bayesmargin.plots import ACCENT, INK

COLOURS = {"ssgrld": ACCENT, "pa": "#2563eb", "gibbs": INK}
NEAR = 0.02  # below the lower of two ends: what both have reached
MANY = 10
FINALISTS = 2  # costs that a search follows with all its chains
Scorer = Callable[[Any, Any], float]
Looks = list[dict[str, Any]]


@dataclass(frozen=True)
class Corpus:
    """Documents to learn from and to judge by, and how long every method learns.

    Attributes
    ----------
    key, name : str
        Its name in the tables of numbers, and for readers.
    X, y, new, truth
        Counts and labels, for learning and for judging.
    score : callable
        Figure of predictions: ``score(truth, found)``.
    rule : str
        How classes share topics.
    n_topics : int
    passes : dict
        Over the documents, by method.
    n_chains : int
        Runs of every method from different seeds; their figures are averaged.
    integrated : bool
        Judge a chain with its topics integrated out, instead of by the mean over its draws.
    """

    key: str
    name: str
    X: Any
    y: Any
    new: Any
    truth: Any
    score: Scorer
    rule: str
    n_topics: int
    passes: dict[str, int]
    n_chains: int = 1
    integrated: bool = False


def accuracy(truth: Any, found: Any) -> float:
    """Share of right answers."""
    return float(np.mean(truth == found))


def micro(truth: Any, found: Any) -> float:
    """F1 of all decisions together."""
    return float(f1_score(truth, found, average="micro", zero_division=0))


def macro(truth: Any, found: Any) -> float:
    """Mean F1 of the classes."""
    return float(f1_score(truth, found, average="macro", zero_division=0))


def follow(corpus: Corpus, method: str, cost: float, seed: int, growth: float) -> Looks:
    """One chain as it learns: the better of its last draw and of all that it knows.

    A look is taken whenever ``growth`` times as many documents were read as at the last one.
    """
    size = {"sampler__batch_size": min(256, max(16, corpus.X.shape[0] // 20))}
    model = MedLDAClassifier(
        n_topics=corpus.n_topics,
        sampler=method,
        multi_class=corpus.rule,
        C=cost,
        n_chains=1,
        random_state=seed,
        **({} if method == "gibbs" else size),
    )
    n_passes, looks, following = corpus.passes[method], [], 0.0
    run = TopicRun(model, corpus.X, corpus.y)
    n_steps = n_passes if method == "gibbs" else np.inf
    documents = to_documents(check_counts(corpus.new, "experiment"))
    kept = None if corpus.integrated else run.training.resolved.n_draws
    for step in run.steps(n_passes):
        last = step == n_steps or run.documents_seen >= n_passes * corpus.X.shape[0]
        if run.documents_seen < following and not last:
            continue
        following = run.documents_seen * growth
        found = [
            corpus.score(corpus.truth, run.training.code.decide(run.scores(documents, draws), 0.0))
            for draws in (1, kept)
        ]
        looks.append(
            {"documents": run.documents_seen, "seconds": run.watch.seconds, "score": max(found)}
        )
    run.training.close()
    return looks


def search_costs(corpus: Corpus, grid: Sequence[float], seed: int) -> tuple[dict[str, float], Any]:
    """The cost of the hinge that is best for every method, in the mean over chains of ``corpus``.

    One chain tries all costs, the others the best of them. Returns the costs by method, and the
    seconds that it took.
    """
    watch = Stopwatch()
    compile_methods(3, corpus.rule)
    with watch.running():
        best = {method: _search(corpus, method, grid, seed) for method in METHODS}
    return best, watch.seconds


def _search(corpus: Corpus, method: str, grid: Sequence[float], seed: int) -> float:
    first, *others = chain_seeds(seed, corpus.n_chains)
    ends = {cost: [_best(follow(corpus, method, cost, first, 3.0))] for cost in grid}
    finalists = sorted(grid, key=lambda cost: ends[cost][0])[-FINALISTS:]
    for cost in finalists:
        ends[cost] += [_best(follow(corpus, method, cost, own, 3.0)) for own in others]
    return float(max(finalists, key=lambda cost: np.mean(ends[cost])))


def chain_seeds(seed: int, n_chains: int) -> list[int]:
    """A seed for every chain: the given one, then others spawned from it."""
    spawned = spawn_generators(seed, n_chains - 1)
    return [seed, *(int(generator.integers(2**31)) for generator in spawned)]


def follow_all(corpus: Corpus, costs: dict[str, float], seed: int, growth: float) -> Looks:
    """All chains of all methods on a corpus, as rows of numbers."""
    rows: Looks = []
    compile_methods(3, corpus.rule)
    for chain, own in enumerate(chain_seeds(seed, corpus.n_chains)):
        for method in METHODS:
            rows += [
                {"corpus": corpus.key, "method": method, "chain": chain, **look}
                for look in follow(corpus, method, costs[method], own, growth)
            ]
    return rows


def held_out(corpus: Corpus, n_kept: int, n_chains: int) -> Corpus:
    """The same problem within the training documents: the last ones judge what the others teach."""
    return replace(
        corpus,
        X=corpus.X[:n_kept],
        y=corpus.y[:n_kept],
        new=corpus.X[n_kept:],
        truth=corpus.y[n_kept:],
        n_chains=n_chains,
    )


def averaged(rows: Iterable[dict[str, Any]]) -> Looks:
    """The mean of the chains of one method, look by look: all chains look after equal reading."""
    chains: dict[int, Looks] = {}
    for row in rows:
        chains.setdefault(row["chain"], []).append(row)
    names = ("documents", "seconds", "score")
    return [
        {name: float(np.mean([look[name] for look in looks])) for name in names}
        for looks in zip(*chains.values(), strict=True)
    ]


def first_at(looks: Looks, level: float, axis: str) -> float:
    """Documents or seconds at the first look that shows the level; infinite if none does."""
    return next((float(look[axis]) for look in looks if look["score"] >= level), np.inf)


def compare(corpus: Corpus, rows: Looks, axis: str, costs: dict[str, float]) -> tuple[Any, Any]:
    """What every method needs to the level that SSGRLD and Gibbs both reach: a table, and facts.

    Levels and times are those of the mean over chains; ``gain_least`` and ``gain_most`` are the
    factors of single chains, each pair with its own level. ``gap`` is what SSGRLD lacks to the best
    of the others, ``gap_error`` its standard error over chains.
    """
    key, table = corpus.key, []
    own = {m: [r for r in rows if r["corpus"] == key and r["method"] == m] for m in METHODS}
    mean = {m: averaged(group) for m, group in own.items()}
    level = _level(mean)
    facts: dict[str, Any] = {
        f"{key}_documents": corpus.X.shape[0],
        f"{key}_topics": corpus.n_topics,
        f"{key}_chains": corpus.n_chains,
        f"{key}_level": level,
        f"{key}_sweep": mean["gibbs"][-1]["seconds"] / corpus.passes["gibbs"],
    }
    for method, looks in mean.items():
        facts[f"{key}_{method}"] = first_at(looks, level, axis)
        facts[f"{key}_{method}_best"] = _best(looks)
        facts[f"{key}_{method}_cost"] = costs[method]
        table.append(
            {
                "corpus": corpus.name,
                "method": METHODS[method],
                "C": costs[method],
                "best score": _best(looks),
                "documents to the common level": first_at(looks, level, "documents"),
                "seconds to it": first_at(looks, level, "seconds"),
            }
        )
    rival = max(("pa", "gibbs"), key=lambda method: _best(mean[method]))
    facts[f"{key}_gap"] = _best(mean[rival]) - _best(mean["ssgrld"])
    facts[f"{key}_gap_error"] = float(np.hypot(_error(own["ssgrld"]), _error(own[rival])))
    for method in ("ssgrld", "pa"):
        gains = [
            first_at(pair["gibbs"], lowest, axis) / first_at(pair[method], lowest, axis)
            for pair in (_chain(own, chain) for chain in range(corpus.n_chains))
            for lowest in [_level(pair)]
        ]
        facts[f"{key}_{method}_gain"] = facts[f"{key}_gibbs"] / facts[f"{key}_{method}"]
        facts[f"{key}_{method}_gain_least"] = min(gains)
        facts[f"{key}_{method}_gain_most"] = max(gains)
    return table, facts


def _chain(own: dict[str, Looks], chain: int) -> dict[str, Looks]:
    return {m: [row for row in group if row["chain"] == chain] for m, group in own.items()}


def _level(looks: dict[str, Looks]) -> float:
    return min(_best(looks["ssgrld"]), _best(looks["gibbs"])) - NEAR


def _best(looks: Looks) -> float:
    return max(float(look["score"]) for look in looks)


def _error(rows: Looks) -> float:
    """Standard error over chains of the score at the look that is best in the mean."""
    best = int(np.argmax([look["score"] for look in averaged(rows)]))
    n_chains = 1 + max(row["chain"] for row in rows)
    scores = [_chain({"": rows}, chain)[""][best]["score"] for chain in range(n_chains)]
    return float(np.std(scores, ddof=1) / np.sqrt(n_chains)) if n_chains > 1 else np.nan


def decided(surely: bool, surely_not: bool) -> bool | None:
    """A verdict where evidence decides, None where it does not."""
    return surely if surely or surely_not else None


def draw_curves(axis: Any, rows: Looks, corpus: Corpus, across: str, labels: Sequence[str]) -> None:
    """Mean curves of the methods, single chains behind them."""
    for method, name in METHODS.items():
        own = [r for r in rows if r["corpus"] == corpus.key and r["method"] == method]
        for chain in range(corpus.n_chains if corpus.n_chains > 1 else 0):
            looks = [r for r in own if r["chain"] == chain]
            axis.plot([r[across] for r in looks], [r["score"] for r in looks], "-",
                      color=COLOURS[method], lw=0.6, alpha=0.35)  # fmt: skip
        mean = averaged(own)
        axis.plot([r[across] for r in mean], [r["score"] for r in mean], "o-",
                  color=COLOURS[method], ms=3, lw=1.2, label=name)  # fmt: skip
    axis.set_xscale("log")
    axis.set_xlabel(labels[0], fontsize=9)
    axis.set_ylabel(labels[1], fontsize=9)
    axis.set_title(corpus.name, fontsize=9)
