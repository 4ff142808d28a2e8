"""Time of fits with hundreds of features, tens of classes, and a rare class, beside a checkout.

    python benchmarks/scaling.py [CASE ...] [--against CHECKOUT] [--n-jobs N] [--busy]
        [--seed S] [--n-draws N] [--way W] [--profile]

Cases are IJCNN1 through ``Nystroem(gamma=2)`` times ten (49,990 dense rows; half as many with 1000
features), clouds of unit variance around centres 0.35 N(0, I) in several classes, and tables of 277
indicators with 3% positives (``rare_indicators.py``); ``held_out`` are mixtures in classes of
unequal sizes. Default settings, one BLAS thread, kernels
compiled beforehand by a fit of few draws. Times are those of the clock and of the processor, and
each case is fitted by both sides, each in a process of its own, at the same time. ``CHECKOUT`` is
a folder with the sources of before (``git worktree add``). Effective draws are those of the worst
direction that is watched; of several classes R-hat is that of the leads of 500 test rows. ``--way``
gives rows in a file or as a Dask collection, or asks for one class against the rest. A case has a
file of its own in ``results/``.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
CASES = {  # kind, features, rows, classes
    "30_features": ("ijcnn1", 30, 49_990, 2),
    "100_features": ("ijcnn1", 100, 49_990, 2),
    "300_features": ("ijcnn1", 300, 49_990, 2),
    "300_features_half": ("ijcnn1", 300, 24_995, 2),
    "300_features_fifth": ("ijcnn1", 300, 9998, 2),
    "1000_features": ("ijcnn1", 1000, 24_995, 2),
    "rare_indicators": ("rare", 277, 50_000, 2),
    "10_classes": ("clouds", 64, 5000, 10),
    "30_classes": ("clouds", 64, 5000, 30),
    "100_classes": ("clouds", 64, 20_000, 100),
    "100_classes_tuned": ("clouds", 64, 20_000, 100),
    "100_classes_wide": ("clouds", 384, 50_000, 100),
    "held_out": ("mixtures", 200, 20_000, 60),
}
TUNED = "100_classes_tuned"  # the choice of C included, beside that of LinearSVC
WANTED = {"300_features": 1 / 4, "1000_features": 1 / 10, "30_classes": 1 / 5}
WITHIN = {"rare_indicators": 60.0, "100_classes_wide": 300.0}
LONGEST = 400  # seconds that a side may take, with its compilation
COMPILED, NUMBERS = 25_000, 500_000_000  # rows at most of the fit that has kernels compiled,
# and products of a pass over them
TESTED = 500  # rows whose leads are watched


def clouds(n_rows: int, n_features: int, n_classes: int) -> tuple:
    """Rows around the centre of their class, and their classes."""
    import numpy as np

    rng = np.random.default_rng(0)
    centres = 0.35 * rng.standard_normal((n_classes, n_features))
    y = rng.integers(0, n_classes, n_rows)
    return (centres[y] + rng.standard_normal((n_rows, n_features))).astype(np.float32), y


def mixtures(n_rows: int, n_features: int, n_classes: int) -> tuple:
    """Classes of unequal sizes, each of three clouds whose features vary unequally.

    No rule was tried on them.
    """
    import numpy as np

    rng = np.random.default_rng(5)
    centres = 0.25 * rng.standard_normal((n_classes, 3, n_features))
    widths = rng.uniform(0.3, 2.0, (n_classes, 3, n_features))
    share = 1.0 / np.arange(5.0, n_classes + 5.0)
    y = rng.choice(n_classes, n_rows, p=share / share.sum())
    part = rng.integers(0, 3, n_rows)
    noise = rng.standard_normal((n_rows, n_features))
    return (centres[y, part] + widths[y, part] * noise).astype(np.float32), y


def rows_of(kind: str, n_features: int, n_rows: int, n_classes: int = 2) -> tuple:
    """Rows and labels of a case."""
    import numpy as np

    if kind == "clouds":
        return clouds(n_rows + TESTED, n_features, n_classes)
    if kind == "mixtures":
        return mixtures(n_rows + TESTED, n_features, n_classes)
    if kind == "rare":
        from rare_indicators import rare_indicators

        return rare_indicators(n_rows)
    from sklearn.kernel_approximation import Nystroem

    from bayesmargin.datasets import fetch_ijcnn1

    bunch = fetch_ijcnn1()
    kernel = Nystroem(gamma=2.0, n_components=n_features, random_state=0)
    values = 10.0 * kernel.fit_transform(np.asarray(bunch.data))
    chosen = np.random.default_rng(0).permutation(len(values))[:n_rows]
    return values[chosen].astype(np.float32), np.asarray(bunch.target)[chosen]


def compiled(X, y) -> slice:
    """Rows of the fit that has kernels compiled."""
    return slice(0, min(COMPILED, NUMBERS // (X.shape[1] * len(set(y.tolist())))))


def as_given(way: str, file: Path, X, y):
    """The rows as a fit gets them: in memory, in a file, or shared out among Dask workers."""
    import numpy as np

    if way == "file":
        from bayesmargin.rows import open_rows

        path = file.with_suffix(f".{len(y)}.npy")
        np.save(path, X)
        return open_rows(path), y
    if way == "dask":
        from dask import array
        from dask.distributed import Client

        Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
        piece = -(-len(y) // 4)
        return array.from_array(X, chunks=(piece, -1)), array.from_array(y, chunks=piece)
    return X, y


def measured(
    file: Path, n_jobs: int, tuned: bool, seed: int, n_draws: int, way: str = "memory"
) -> dict:
    """What this side takes for the rows in a file."""
    warnings.simplefilter("ignore")
    from bayesmargin import BayesianLinearSVC

    X, y, test = pickle.loads(file.read_bytes())
    settings = {"C": "auto"} if tuned else {}
    if way == "ovr":
        settings["multi_class"] = "ovr"
    # Too few draws to be judged: nothing is made longer, and what is compiled is what is needed.
    some = compiled(X, y)
    few = as_given(way, file, X[some], y[some])
    BayesianLinearSVC(n_draws=7, n_jobs=n_jobs, random_state=1, **settings).fit(*few)
    X, y = as_given(way, file, X, y)
    spent, began = time.process_time(), time.perf_counter()
    model = BayesianLinearSVC(n_draws=n_draws, n_jobs=n_jobs, random_state=seed, **settings).fit(
        X, y
    )
    spent, clock = time.process_time() - spent, time.perf_counter() - began
    found = model.diagnostics_
    return {
        "clock": clock,
        "processor": spent,
        "ess": float(found.min_bulk_ess),
        "rhat": float(found.max_rhat) if test is None else leads_rhat(model, test),
        "iterations": int(found.n_iterations),
        "trustworthy": bool(found.trustworthy),
        "notes": str(model.posterior_.attrs.get("notes", "")),
    }


def profiled(file: Path, n_jobs: int) -> None:
    """Print where the processor time of a fit goes."""
    import cProfile
    import pstats

    warnings.simplefilter("ignore")
    from bayesmargin import BayesianLinearSVC

    X, y, _ = pickle.loads(file.read_bytes())
    some = compiled(X, y)
    BayesianLinearSVC(n_draws=7, n_jobs=n_jobs, random_state=1).fit(X[some], y[some])
    watch = cProfile.Profile(time.process_time)
    model = BayesianLinearSVC(n_jobs=n_jobs, random_state=0)
    try:
        watch.runcall(model.fit, X, y)
        print(model.diagnostics_, model.posterior_.attrs, sep="\n")
    except KeyboardInterrupt:
        print("stopped")
    told = pstats.Stats(watch, stream=sys.stdout)
    told.sort_stats("tottime").print_stats(30)
    told.sort_stats("cumtime").print_stats("bayesmargin", 60)


def peer(file: Path) -> dict:
    """What the choice of C and a last fit take ``LinearSVC``."""
    warnings.simplefilter("ignore")
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import LinearSVC

    X, y, _ = pickle.loads(file.read_bytes())
    spent, began = time.process_time(), time.perf_counter()
    GridSearchCV(LinearSVC(), {"C": [0.001, 0.01, 0.1, 1.0]}, cv=3, n_jobs=1).fit(X, y)
    return {
        "clock": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        **{key: float("nan") for key in ("ess", "rhat", "iterations", "trustworthy")},
        "notes": "",
    }


def leads_rhat(model, test) -> float:
    """R-hat of the leads of test rows: their best score less the second best."""
    import numpy as np

    from bayesmargin.diagnostics.convergence import rhat

    table, level = model.posterior_["coef"], model.posterior_["intercept"]
    leads = np.empty((*table.shape[:2], len(test)))
    for c in range(table.shape[0]):
        for d in range(table.shape[1]):
            scores = test @ table[c, d].T.astype(np.float32) + level[c, d]
            top = np.partition(scores, -2, axis=1)[:, -2:]
            leads[c, d] = top[:, 1] - top[:, 0]
    return float(rhat(leads).max())


def begun(
    root: Path,
    file: Path,
    n_jobs: int,
    kind: str = "default",
    blas: int = 1,
    seed: int = 0,
    n_draws: int = 1000,
    way: str = "memory",
) -> subprocess.Popen:
    """A process that measures the sources in a folder."""
    paths = os.pathsep.join([str(root / "src"), str(HERE / "benchmarks")])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": str(blas)}
    environment["CUDA_VISIBLE_DEVICES"] = ""  # a fit on processors is what is measured
    command = [sys.executable, __file__, "--measure", str(file)]
    command += ["--n-jobs", str(n_jobs), "--kind", kind, "--seed", str(seed)]
    command += ["--n-draws", str(n_draws), "--way", way]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen, longest: float) -> dict | None:
    """What it has measured; None if it took too long."""
    try:
        said, _ = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        process.kill()
        return None
    return json.loads(said.splitlines()[-1])


def beside_a_busy_core(file: Path, n_jobs: int) -> dict[str, dict | None]:
    """A fit with two BLAS threads on two cores, and with another process on one of these."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    quiet = ended(begun(HERE, file, n_jobs, blas=2), LONGEST)
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(spinning.pid, cores[-1:])
    try:
        return {"quiet": quiet, "busy": ended(begun(HERE, file, n_jobs, blas=2), LONGEST)}
    finally:
        spinning.kill()


def bounds_of(case: str, names: list[str], now: dict | None, other: dict | None) -> list[dict]:
    """What was wanted of a case."""
    found = []
    if "busy" in names:
        share = other["clock"] / now["clock"] if now and other else float("inf")
        found.append(
            {
                "bound": f"{case}: beside a busy core at most 1.6 times as long",
                "measured": f"{share:.2f}",
                "met": share <= 1.6,
            }
        )
        return found
    if case in WANTED and "before" in names:
        earlier = other["clock"] if other else float(LONGEST)
        share = now["clock"] / earlier if now else float("inf")
        found.append(
            {
                "bound": f"{case}: at most {WANTED[case]:.2g} of the time of before",
                "measured": f"{share:.2f}" + ("" if other else " (before: stopped)"),
                "met": share <= WANTED[case],
            }
        )
    if case == TUNED:
        share = now["clock"] / other["clock"] if now and other else float("inf" if other else "nan")
        found.append(
            {
                "bound": f"{case}: at most 10 times LinearSVC, the choice of C included",
                "measured": f"{share:.2f}",
                "met": share <= 10.0,
            }
        )
    if case in WITHIN:
        clock = now["clock"] if now else float("inf")
        found.append(
            {
                "bound": f"{case}: at most {WITHIN[case]:.0f} s, and chains agree",
                "measured": f"{clock:.0f} s" + (f", R-hat {now['rhat']:.3f}" if now else ""),
                "met": bool(now and clock <= WITHIN[case] and now["rhat"] < 1.05),
            }
        )
    return found


def sides(case: str, file: Path, options) -> dict[str, dict | None]:
    """What every side takes for a case; two at a time, each on its own core."""
    if options.busy:
        return beside_a_busy_core(file, options.n_jobs)
    tuned = case == TUNED
    kind, more = "tuned" if tuned else "default", {"seed": options.seed, "n_draws": options.n_draws}
    more["way"] = options.way
    now = begun(HERE, file, options.n_jobs, kind, **more)
    running = {"now": now}
    if tuned:
        running["LinearSVC"] = begun(HERE, file, 1, "peer")
    elif options.against:
        running["before"] = begun(options.against.resolve(), file, options.n_jobs, **more)
    until = time.perf_counter() + LONGEST
    return {
        name: ended(process, max(1.0, until - time.perf_counter()))
        for name, process in running.items()
    }


def main() -> None:
    from options import command_line

    parser = command_line(__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--against", type=Path, help="folder of an earlier checkout")
    parser.add_argument("--shrink", type=int, default=1, help="a part of the rows; nothing is kept")
    parser.add_argument("--n-draws", type=int, default=1000, help="of a chain, kept")
    parser.add_argument("--way", choices=["memory", "file", "dask", "ovr"], default="memory")
    parser.add_argument("--seed", type=int, default=0, help="of the fits")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads of a fit")
    parser.add_argument("--busy", action="store_true", help="beside a process on one of two cores")
    parser.add_argument("--measure", type=Path, help="the rows in a file, as JSON, nothing else")
    parser.add_argument("--kind", choices=["default", "tuned", "peer"], default="default")
    parser.add_argument("--profile", action="store_true", help="where time goes; nothing is kept")
    options = parser.parse_args()
    if options.measure:
        alone = options.kind == "peer"
        asked = options.measure, options.n_jobs, options.kind == "tuned", options.seed
        asked += (options.n_draws, options.way)
        print(json.dumps(peer(options.measure) if alone else measured(*asked)))
        return
    from reporting import finish, print_table

    header = ["case", "side", "clock", "processor", "ess", "rhat", "iterations", "trustworthy"]
    header.append("notes")
    for case in options.cases:
        kind, n_features, n_rows, n_classes = CASES[case]
        X, y = rows_of(kind, n_features, n_rows // options.shrink, n_classes)
        several = n_classes > 2
        test = X[-TESTED:] if several else None
        kept = (X[:-TESTED], y[:-TESTED], test) if several else (X, y, None)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.pickle"
            file.write_bytes(pickle.dumps(kept))
            if options.profile:
                profiled(file, options.n_jobs)
                continue
            found = sides(case, file, options)
        table = []
        for name, one in found.items():
            blank = {"clock": float(LONGEST), "trustworthy": False}
            one = one or {**dict.fromkeys(header, float("nan")), **blank}
            table.append([case, name, *(one[key] for key in header[2:])])
        if options.shrink > 1:
            print_table(header, table)
            continue
        bounds = bounds_of(case, list(found), *[*found.values(), None][:2])
        name = f"scaling_{case}" + (f"_{options.n_jobs}_jobs" if options.n_jobs > 1 else "")
        name += "_busy" if options.busy else ""
        name += f"_{options.n_draws}_draws" if options.n_draws != 1000 else ""
        name += f"_{options.way}" if options.way != "memory" else ""
        name += f"_seed_{options.seed}" if options.seed else ""
        ended_first = next(iter(found.values())) is not None
        met = ended_first and all(bound["met"] for bound in bounds)
        finish(name, header, table, met, bounds)


if __name__ == "__main__":
    main()
