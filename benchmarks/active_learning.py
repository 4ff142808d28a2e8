"""Labels asked for by one posterior, and by ten bootstrap fits: accuracy and time.

    python benchmarks/active_learning.py [set ...] [--processes 6]

From 40 labelled rows on, ten more are asked for in each of ten rounds: those with the largest
mutual information of label and model (BALD) among 1,000 rows. Ours takes it from
``sample_proba(X, 100)`` of one fit, the peer from the probabilities of ten fits of the same model,
each to a bootstrap sample of the labelled rows, and a third chooses at random. Accuracy on further
rows after the last round, and processor seconds of the fits, means over six random parts.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import entropy

from bayesmargin import BayesianLinearSVC
from decision_sets import parts_of, whole_sets
from options import sets_and_processes
from reporting import finish
from workers import spread

NAMES = ("digits", "ijcnn1")
FIRST, MORE, ROUNDS, PARTS, POOL, JUDGES = 40, 10, 10, 6, 1000, 5000
COMMITTEE = 10
CLOSE = 0.01  # accuracy, which is about two of its standard errors

Ask = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def fitted(X: np.ndarray, y: np.ndarray) -> BayesianLinearSVC:
    """The model that all ask with and are judged by."""
    return BayesianLinearSVC(C=0.1, n_draws=250, n_jobs=1, random_state=0).fit(X, y)


def gain(draws: np.ndarray) -> np.ndarray:
    """Mutual information of label and model, from probabilities (draw, row, class)."""
    return np.asarray(entropy(draws.mean(axis=0), axis=1) - entropy(draws, axis=2).mean(axis=0))


def by_posterior(X: np.ndarray, y: np.ndarray, rest: np.ndarray, rng: Any) -> np.ndarray:
    """One fit and its draws."""
    return gain(fitted(X, y).sample_proba(rest, 100, random_state=0))


def by_bootstrap(X: np.ndarray, y: np.ndarray, rest: np.ndarray, rng: Any) -> np.ndarray:
    """Ten fits to rows drawn with replacement."""
    found = []
    while len(found) < COMMITTEE:
        some = rng.choice(len(y), len(y))
        if len(np.unique(y[some])) > 1:
            found.append(fitted(X[some], y[some]).predict_proba(rest))
    return gain(np.array(found))


def at_random(X: np.ndarray, y: np.ndarray, rest: np.ndarray, rng: Any) -> np.ndarray:
    """No question is better than another."""
    return np.asarray(rng.random(len(rest)))


def learned(ask: Ask, part: tuple[np.ndarray, ...], seed: int) -> tuple[float, float]:
    """Accuracy after the last round, and seconds spent on questions."""
    X, y, X_test, y_test = part
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))[:POOL]
    known = [int(np.flatnonzero(y[order] == k)[0]) for k in (0, 1)]  # one of each class
    known += [int(k) for k in range(len(order)) if k not in known][: FIRST - 2]
    spent = 0.0
    for _ in range(ROUNDS):
        rest = np.setdiff1d(np.arange(len(order)), known)
        start = time.process_time()
        worth = ask(X[order[known]], y[order[known]], X[order[rest]], rng)
        spent += time.process_time() - start
        known += rest[np.argsort(-worth, kind="stable")[:MORE]].tolist()
    model = fitted(X[order[known]], y[order[known]])
    return model.score(X_test[:JUDGES], y_test[:JUDGES]), spent


def all_ways(part: tuple[np.ndarray, ...], seed: int) -> list[tuple[float, float]]:
    """What every way of asking comes to with the same rows."""
    warnings.simplefilter("ignore")
    fitted(part[0][:200], part[1][:200])  # machine code is ready before the clock starts
    return [learned(ask, part, seed) for ask in (by_posterior, by_bootstrap, at_random)]


def main() -> None:
    names, processes = sets_and_processes(__doc__, NAMES)
    warnings.simplefilter("ignore")
    table: list[list[Any]] = []
    for name, X, y in whole_sets(names):
        each = ((part, seed) for seed, part in enumerate(parts_of(X, y, PARTS)))
        found = np.mean(list(spread(all_ways, each, processes)), axis=0)
        ours, peer, chance = found[:, 0]
        share = found[0, 1] / found[1, 1]
        met = bool(ours >= peer - CLOSE and share <= 1.2 / COMMITTEE)
        table.append([name, ours, peer, chance, *found[:2, 1], share, met])
        print(*table[-1], flush=True)
    header = ["set", "ours", "bootstrap", "random", "seconds", "their_seconds", "share", "met"]
    finish("active_learning", header, table, all(row[-1] for row in table))


if __name__ == "__main__":
    main()
