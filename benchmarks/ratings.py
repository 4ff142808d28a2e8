"""Ratings of films: max-margin factorization beside tuned matrix factorizations, MovieLens 100K.

    python benchmarks/ratings.py choose --folds 1 2 --costs 0.3 0.5 0.7
    python benchmarks/ratings.py ours
    python benchmarks/ratings.py peers                    # more with: pip install cornac
    python benchmarks/ratings.py speed
    python benchmarks/ratings.py join

"choose" hides a tenth of the training ratings and looks at no test rating: defaults come from it.
"ours" has the defaults, "peers" are PMF, biased MF and biases (:mod:`ratings_peers`), by cornac too
where it is installed, each tuned on hidden ratings of each fold. NMAE is the mean absolute error
over 1.6; of a peer the smaller one of raw and rounded predictions.
"speed" draws a million ratings from a fitted model and times one sweep of
one chain over them. ``join`` prints the table of all parts, and the verdict.
"""

import itertools
import os
import time
import warnings

import numpy as np
import pandas as pd

from bayesmargin import MaxMarginFactorization
from bayesmargin.errors import BayesmarginWarning
from options import command_line
from ratings_data import fold, hidden, measure, measure_chances
from ratings_peers import has_cornac, tuned_biases, tuned_cornac, tuned_sgd
from reporting import finish, keep_part, kept_parts

FOLDS = (1, 2, 3, 4, 5)
HEADER = (
    "fold", "method", "nmae", "rmse", "log_loss", "in_80", "promised_80", "in_95", "promised_95",
    "seconds", "note",
)  # fmt: skip
EMPTY = [float("nan")] * 5


def fit(train, seed=0, **settings):
    """Our model, and the seconds that its fit took."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        model = MaxMarginFactorization(random_state=seed, **settings).fit(train)
    return model, time.perf_counter() - begin


def row_of(number, method, model, test, seconds, note):
    """A row of the table."""
    chance, levels = model.predict_proba(test), model.levels_
    best = levels[(np.cumsum(chance, axis=1)[:, :-1] < 0.5).sum(axis=1)]
    errors = measure(test[:, 2], best, chance @ levels)
    return [number, method, *errors, *measure_chances(test[:, 2], chance, levels), seconds, note]


def choose(number, asked):
    """Settings on hidden training ratings."""
    train, test = hidden(fold(number)[0])
    for cost, factors in itertools.product(asked.costs, asked.factors):
        model, seconds = fit(train, n_factors=factors, C=cost, n_chains=2, n_sweeps=asked.sweeps)
        note = str(model.diagnostics_)
        yield row_of(number, f"C={cost:g}, {factors} factors", model, test, seconds, note)


def ours(number, asked):
    """Defaults, minibatches, and features that users have or lack."""
    train, test = fold(number)
    features = {"n_factors": "infinite", "n_chains": 2, "n_sweeps": 300}
    for method, settings in (
        ("ours", {}),
        ("ours, minibatches", {"sampler": "ssgnht"}),
        ("ours, features", features),
    ):
        if method in asked.methods:
            model, seconds = fit(train, **settings)
            yield row_of(number, method, model, test, seconds, str(model.diagnostics_))


def peers(number, asked):
    """Factorizations with the settings that are best on hidden ratings; biases likewise."""
    train, test = fold(number)
    parts = (train, *hidden(train), test)
    ways = {
        "biases, tuned": lambda: tuned_biases(*parts),
        "PMF, tuned": lambda: tuned_sgd(*parts, False),
        "biased MF, tuned": lambda: tuned_sgd(*parts, True),
    }
    if has_cornac():
        ways["PMF (cornac), tuned"] = lambda: tuned_cornac(*parts, "PMF")
        ways["biased MF (cornac), tuned"] = lambda: tuned_cornac(*parts, "MF")
    for method, way in ways.items():
        begin = time.perf_counter()
        found, note = way()
        yield peer_row(number, method, found, test, begin, note)


def peer_row(number, method, found, test, begin, note):
    """A row of a method without probabilities."""
    seconds = time.perf_counter() - begin
    errors = [measure(test[:, 2], best, found) for best in (found, np.round(found))]
    nmae = min(error[0] for error in errors)
    return [number, method, nmae, errors[0][1], *EMPTY, seconds, note]


def speed(number, asked):
    """A million ratings from a fitted model: seconds of a sweep, of two chains on two threads."""
    model, _ = fit(fold(number)[0], n_sweeps=40, n_chains=1)
    posterior, rng = model.posterior_, np.random.default_rng(0)
    last = {name: posterior.flat(name)[-1] for name in posterior}
    pick = rng.permutation(len(model.users_) * len(model.items_))[: asked.ratings]
    i, j = np.divmod(pick, len(model.items_))
    score = last["user_bias"][i] + last["item_bias"][j]
    score += np.einsum("dk,dk->d", last["user_factors"][i], last["item_factors"][j])
    rows, n_levels = np.arange(len(pick)), len(model.levels_)
    logs = np.empty((len(pick), n_levels))
    for y in range(n_levels):
        side = np.where(y > np.arange(n_levels - 1), 1.0, -1.0)
        slack = model.margin - side * (score[:, None] - last["thresholds"][i])
        logs[:, y] = -model.C * np.maximum(0.0, slack).sum(axis=1)
    chance = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    level = (chance < chance[:, -1:] * rng.random((len(rows), 1))).sum(axis=1)
    drawn = np.column_stack([i, j, model.levels_[level]])
    for sampler in ("gibbs", "ssgnht"):
        fit(drawn[:2000], n_sweeps=2, sampler=sampler)  # compiles
        times = [
            fit(drawn, n_sweeps=sweeps, n_chains=2, n_jobs=2, n_draws=1, sampler=sampler)[1]
            for sweeps in (2, 12)
        ]
        seconds = (times[1] - times[0]) / 10
        whole = f"{len(drawn)} ratings, 2 chains, 2 threads; reading and 2 sweeps {times[0]:.1f} s"
        yield [number, f"one pass, {sampler}", *[float("nan")] * 7, seconds, whole]


def join():
    """Means over folds, bounds and the verdict."""
    rows = [row for row in kept_parts("ratings") if not row[1].startswith("C=")]
    table = pd.DataFrame(rows, columns=HEADER)
    mean = table.groupby("method", sort=False)[list(HEADER[2:-1])].mean()
    folds = table.groupby("method").size()
    shown = [[name, int(folds[name]), *map(float, line)] for name, line in
             zip(mean.index, mean.to_numpy(), strict=True)]  # fmt: skip
    own, bounds = mean.loc["ours"], []
    others = [name for name in mean.index if not name.startswith(("ours", "one pass"))]
    for name, measure_name in itertools.product(others, ("nmae", "rmse")):
        theirs = table[table["method"] == name].set_index("fold")[measure_name]
        ours_there = table[table["method"] == "ours"].set_index("fold")[measure_name]
        ours_there = ours_there[theirs.index].mean()
        text = f"{measure_name} at most that of {name} ({theirs.mean():.4f}, {len(theirs)} folds)"
        bounds.append(bound(text, ours_there, ours_there <= theirs.mean()))
    for share in (80, 95):
        covered = own[f"in_{share}"]
        text = f"{share}% intervals hold at least {share}% of the ratings"
        bounds.append(bound(text, covered, covered >= share / 100))
    if "one pass, gibbs" in mean.index:
        seconds = mean.loc["one pass, gibbs", "seconds"]
        bounds.append(bound("a pass over a million ratings in 20 s", seconds, seconds <= 20.0))
    header = ("method", "folds", *HEADER[2:-1])
    finish("ratings", header, shown, all(one["met"] for one in bounds), bounds)


def bound(text, value, met):
    """A bound with what was measured."""
    return {"bound": text, "measured": f"{value:.4f}", "met": bool(met)}


def main():
    """One group of methods on some folds, or the table of all."""
    parser = command_line(__doc__)
    parser.add_argument("group", choices=("choose", "ours", "peers", "speed", "join"))
    parser.add_argument("--folds", nargs="+", type=int, choices=FOLDS, default=list(FOLDS))
    parser.add_argument("--costs", nargs="+", type=float, default=[0.4, 0.5, 0.6, 0.7])
    parser.add_argument("--factors", nargs="+", type=int, default=[10])
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=["ours", "ours, minibatches"])
    parser.add_argument("--ratings", type=int, default=1_000_000)
    parser.add_argument("--part", default="", help="name of the part beside the folds")
    asked = parser.parse_args()
    if asked.group == "join":
        join()
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if asked.group == "speed":
        asked.folds = [1]
    for number in asked.folds:
        rows = []
        for row in globals()[asked.group](number, asked):
            rows.append(row)  # kept one by one
            keep_part("ratings", f"{asked.group}{asked.part}_{number}", HEADER, rows)
            print(*[f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row], flush=True)


if __name__ == "__main__":
    main()
