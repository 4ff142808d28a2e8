"""Settings of the infinite SVM benchmark, chosen by cross-validation on training rows alone.

Usage::

    python benchmarks/infinite_svm_search.py [--data protein ijcnn1] [--only mixture ...] [--chains]
    python benchmarks/infinite_svm_search.py --data ijcnn1 --steps [--only mixture]

Every model, ours and the peers, is searched by folds of training rows; test rows are never read.
Protein has 311 training rows, so its folds are repeated. Peers are searched on a stratified part of
IJCNN1's training rows, which keeps the search to minutes, the mixture on all. The choice goes to
``results/infinite_svm_search_NAME.json``, from where ``infinite_svm.py`` reads it.

Chains from different starts find different partitions. So the chosen mixture is tried with more of
them, too, on folds of their own.

How the stochastic sampler of the weights shall step is searched last (``--steps``), with the
mixture that was chosen, beside exact Gibbs on the same folds: a sweep over the assignments leaves
the exact gradient behind, so a first step costs no row, and may be long.

Ten of the columns of IJCNN1 are 0 or 1. The Gaussians of the published model see them ("mixture");
those of the "continuous mixture" do not, which is what our default does. Its chains are shorter:
their sweeps take three times as long.

On protein the long steps of the stochastic sampler find a component or two more than exact weights
do, and other settings suit these. So each is searched for itself there, on the same grid and folds:
"mixture" with the steps, "exact mixture" with Gibbs (most of an hour).
"""

import itertools
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc import InfiniteSVC
from infinite_svm_peers import load, peer
from options import command_line
from reporting import RESULTS, print_table

SEARCH_ROWS = 12_000
FOLDS = {"protein": (5, 2), "ijcnn1": (3, 1)}
#: The mixture is fast enough for all rows, on which its number of clusters depends, and more folds.
MIXTURE_ROWS, MIXTURE_REPEATS = 60_000, 2
CHAIN_REPEATS = {"protein": 6, "ijcnn1": 1}
#: Length of the chains, while searching and when measured; others were not searched.
LENGTH: dict[str, dict[str, Any]] = {
    "protein": {"n_sweeps": 300, "n_draws": 25, "n_chains": 4},
    "ijcnn1": {"n_sweeps": 40, "n_draws": 10, "n_chains": 1, "sampler__inner_steps": 10},
}
#: Classes are compared, which no link changes; Gaussians see what they see in the paper.
COMMON = {"prediction": "probability", "components__covariates": True}
#: Steps of the stochastic weights sampler in a sweep (few rows a component need few).
STOCHASTIC: dict[str, dict[str, Any]] = {
    "protein": {"sampler__inner_steps": 1, "sampler__weights__step": 0.2}
}
#: Those that are tried on folds of training rows.
STEPS: dict[str, list[dict[str, Any]]] = {
    "ijcnn1": [
        {
            "sampler__inner_steps": 6,
            "sampler__weights__step": 0.2,
            "sampler__weights__batch_size": 64,
        },
        {
            "sampler__inner_steps": 3,
            "sampler__weights__step": 0.4,
            "sampler__weights__batch_size": 128,
        },
        {
            "sampler__inner_steps": 2,
            "sampler__weights__step": 0.5,
            "sampler__weights__batch_size": 128,
        },
        {"sampler__inner_steps": 1, "sampler__weights__step": 0.5},
        {"sampler__inner_steps": 1, "sampler__weights__step": 1.0},
        {"sampler__inner_steps": 1, "sampler__weights__step": 1.4},
    ],
}
EXACT = {"sampler": "gibbs", "sampler__inner_steps": 1}
#: What the search takes over of these: small batches are biased, and both samplers get the choice.
SEARCHED: dict[str, dict[str, Any]] = {"protein": STOCHASTIC["protein"], "ijcnn1": {}}
MIXTURES = MIXTURE, CONTINUOUS, EXACT_MIXTURE = "mixture", "continuous mixture", "exact mixture"
#: Chains that a chosen mixture is tried with; the grid is searched with the number in LENGTH.
CHAINS = {
    ("protein", MIXTURE): (4, 8, 16),
    ("protein", EXACT_MIXTURE): (4, 8, 16),
    ("ijcnn1", MIXTURE): (1, 4),
    ("ijcnn1", CONTINUOUS): (1, 2),
}
GRIDS: dict[str, dict[str, dict[str, list[Any]]]] = {
    "protein": {
        "logit": {"C": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]},
        "linear SVM": {
            "kind": ["ovr", "crammer_singer", "ovo"],
            "C": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
        },
        "RBF SVM": {"C": [0.3, 1.0, 3.0, 10.0, 30.0, 100.0],
                    "gamma": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]},
        MIXTURE: {"C": [1.0, 3.0, 10.0], "prior_scale": [0.3, 1.0],
                  "components__scatter": [0.5, 1.0], "components__extra_degrees": [0, 20, 200],
                  "sampler__split_merge": [0, 1]},
    },
    "ijcnn1": {
        "logit": {"C": [0.01, 0.1, 1.0, 10.0]},
        "linear SVM": {"kind": ["ovr"], "C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        "RBF SVM": {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.03, 0.1, 0.3, 1.0]},
        MIXTURE: {"C": [1.0, 3.0], "sampler__n_clusters": [60, 120],
                  "components__scatter": ["auto", 0.15, 10.0],
                  "components__extra_degrees": [0, 400], "prior_scale": ["auto", 10.0]},
        CONTINUOUS: {"C": [1.0, 3.0], "sampler__n_clusters": [60, 120],
                     "components__extra_degrees": ["auto", 100],
                     "components__covariates": ["continuous"], "n_sweeps": [20], "n_draws": [5]},
    },
}  # fmt: skip
GRIDS["protein"][EXACT_MIXTURE] = GRIDS["protein"][MIXTURE]


def settings_of(grid: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of a grid."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def make(name: str, model: str, settings: dict[str, Any], seed: int) -> Any:
    """Model with the given settings; the default sampler stands for both, as long as measured."""
    if model in MIXTURES:
        sampler = EXACT if model == EXACT_MIXTURE else SEARCHED[name]
        all_settings = LENGTH[name] | sampler | COMMON | settings
        return InfiniteSVC(random_state=seed, **all_settings)
    return peer(model, settings)


def folds_of(name: str, most: int, repeats: int, seed: int) -> Any:
    """Training rows used in the search, at most so many, and their folds."""
    X, y = load(name)[:2]
    if len(y) > most:
        X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=0)
    number = FOLDS[name][0]
    rule = RepeatedStratifiedKFold(n_splits=number, n_repeats=repeats, random_state=seed)
    return X, y, list(rule.split(X, y))


def judge(name: str, model: str, settings: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Mean accuracy over the folds, in per cent."""
    X, y, folds = rows
    scores = [
        make(name, model, settings, seed).fit(X[train], y[train]).score(X[test], y[test])
        for seed, (train, test) in enumerate(folds)
    ]
    error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
    return {"settings": settings, "accuracy": 100 * float(np.mean(scores)),
            "standard_error": 100 * error}  # fmt: skip


def search(name: str, model: str) -> dict[str, Any]:
    """Accuracy for every combination; the best is the choice."""
    if model in MIXTURES:
        rows = folds_of(name, MIXTURE_ROWS, MIXTURE_REPEATS, 0)
    else:
        rows = folds_of(name, SEARCH_ROWS, FOLDS[name][1], 0)
    begin = time.perf_counter()
    found = [judge(name, model, settings, rows) for settings in settings_of(GRIDS[name][model])]
    found.sort(key=lambda row: -row["accuracy"])
    return {"chosen": found[0]["settings"], "cross_validated": found[0]["accuracy"], "rows": found,
            "rows_searched": len(rows[1]), "folds": len(rows[2]),
            "seconds": time.perf_counter() - begin}  # fmt: skip


def choose_chains(name: str, model: str, found: dict[str, Any]) -> dict[str, Any]:
    """The choice with the number of chains that is best on folds of its own."""
    rows = folds_of(name, MIXTURE_ROWS, CHAIN_REPEATS[name], 1)
    tried = [
        judge(name, model, {**found["chosen"], "n_chains": number}, rows)
        for number in CHAINS[name, model]
    ]
    tried.sort(key=lambda row: -row["accuracy"])
    return {**found, "chosen": tried[0]["settings"], "chains": tried}


def rows_read(steps: dict[str, Any]) -> int:
    """Rows that a sweep's steps read for one expert; the first reads none."""
    return int((steps["sampler__inner_steps"] - 1) * steps.get("sampler__weights__batch_size", 0))


def cheapest(tried: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the steps within a standard error of the best, those that read fewest rows.

    What they are for is speed. Of several that read as few, the most accurate.
    """
    best = max(tried, key=lambda row: row["accuracy"])
    least = best["accuracy"] - best["standard_error"]
    good = [row for row in tried if row["accuracy"] >= least]
    found = min(good, key=lambda row: (rows_read(row["settings"]), -row["accuracy"]))
    settings: dict[str, Any] = found["settings"]
    return settings


def choose_steps(name: str, model: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """The cheapest steps of a chosen mixture that are as good as any, on folds of their own."""
    rows = folds_of(name, MIXTURE_ROWS, MIXTURE_REPEATS, 2)
    begin = time.perf_counter()
    exact = judge(name, model, {**chosen, **EXACT}, rows)
    tried = [judge(name, model, {**chosen, **steps}, rows) for steps in STEPS[name]]
    for row, steps in zip(tried, STEPS[name], strict=True):
        row["settings"] = steps
    tried.sort(key=lambda row: -row["accuracy"])
    return {"chosen": cheapest(tried), "rows": tried, "exact": exact,
            "folds": len(rows[2]), "seconds": time.perf_counter() - begin}  # fmt: skip


def stochastic(name: str, model: str) -> dict[str, Any]:
    """Steps of the stochastic sampler: those that were found, where they were searched."""
    if name in STOCHASTIC:
        return STOCHASTIC[name]
    file = RESULTS / f"infinite_svm_search_{name}.json"
    steps: dict[str, Any] = json.loads(file.read_text())["steps"][model]["chosen"]
    return steps


def main() -> None:
    parser = command_line(__doc__)
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser.add_argument("--data", nargs="+", default=list(GRIDS), choices=list(GRIDS))
    parser.add_argument("--only", nargs="+", help="models to search again; others are kept")
    parser.add_argument(
        "--chains", action="store_true", help="of the mixtures, the number of chains alone"
    )
    parser.add_argument(
        "--steps", action="store_true", help="steps of the stochastic sampler alone"
    )
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for name in options.data:
        file = RESULTS / f"infinite_svm_search_{name}.json"
        if options.steps:
            found = json.loads(file.read_text())
            for model in options.only or [model for model in MIXTURES if model in GRIDS[name]]:
                steps = choose_steps(name, model, found[model]["chosen"])
                found.setdefault("steps", {})[model] = steps
                file.write_text(json.dumps(found, indent=1) + "\n")
                table = [[row["accuracy"], row["standard_error"], str(row["settings"])]
                         for row in [steps["exact"], *steps["rows"]]]  # fmt: skip
                print_table(["accuracy", "error", "settings"], table)
                print(f"verdict: {name}, {model}: steps: {steps['chosen']}")
            continue
        kept = (options.only or options.chains) and file.exists()
        found = json.loads(file.read_text()) if kept else {}
        models = options.only or GRIDS[name]
        for model in [model for model in models if model in MIXTURES or not options.chains]:
            if not options.chains:
                found[model] = search(name, model)
            if model in MIXTURES:
                found[model] = choose_chains(name, model, found[model])
            file.write_text(json.dumps(found, indent=1) + "\n")
            shown = [*found[model].get("chains", []), *found[model]["rows"][:6]]
            table = [[row["accuracy"], row["standard_error"], str(row["settings"])]
                     for row in shown]  # fmt: skip
            print(f"{name}, {model}, {found[model]['seconds']:.0f} s")
            print_table(["accuracy", "error", "settings"], table)
        print(f"verdict: {name}: " + json.dumps({m: found[m]["chosen"] for m in models}))


if __name__ == "__main__":
    main()
