"""Time of a fit with hundreds of features, and with a rare class, beside an earlier checkout.

    python benchmarks/scaling.py [--against CHECKOUT] [--only CASE ...] [--shrink TIMES]

Cases are IJCNN1 through ``Nystroem(gamma=2)`` times ten (49,990 dense rows; half as many with 1000
features) and tables of 277 indicators with 3% positives (``rare_indicators.py``). Default settings,
``n_jobs=1``, one BLAS thread, kernels compiled beforehand by a fit of few rows. Times are those of
the processor, which other work on the machine disturbs less, and each case is fitted by both sides
in turn, each in a process of its own. ``CHECKOUT`` is a folder with the sources of before
(``git worktree add``). Effective draws are those of the worst direction that is watched.
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
CASES = {
    "100 features": ("ijcnn1", 100, 49_990),
    "300 features": ("ijcnn1", 300, 49_990),
    "1000 features": ("ijcnn1", 1000, 24_995),
    "rare indicators": ("rare", 277, 50_000),
}
WANTED = {"300 features": 1 / 4, "1000 features": 1 / 10}
LONGEST = 1500  # seconds that a side may take


def rows_of(kind: str, n_features: int, n_rows: int) -> tuple:
    """Rows and labels of a case."""
    import numpy as np

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


def measured(file: Path) -> dict:
    """What this side takes for the rows in a file."""
    warnings.simplefilter("ignore")
    from bayesmargin import BayesianLinearSVC

    X, y = pickle.loads(file.read_bytes())
    BayesianLinearSVC(n_draws=20, n_jobs=1, random_state=1).fit(X[: len(y) // 5], y[: len(y) // 5])
    spent = time.process_time()
    model = BayesianLinearSVC(n_jobs=1, random_state=0).fit(X, y)
    spent = time.process_time() - spent
    figures = model.diagnostics_
    return {
        "seconds": spent,
        "ess": float(figures.min_bulk_ess),
        "rhat": float(figures.max_rhat),
        "iterations": int(figures.n_iterations),
        "trustworthy": bool(figures.trustworthy),
    }


def side(root: Path, file: Path) -> dict | None:
    """The same from the sources in a folder; None if it took too long."""
    paths = os.pathsep.join([str(root / "src"), str(HERE / "benchmarks")])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--measure", str(file)]
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, timeout=LONGEST, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    from options import command_line

    parser = command_line(__doc__)
    parser.add_argument("--against", type=Path, help="folder of an earlier checkout")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--shrink", type=int, default=1, help="a part of the rows; nothing is kept")
    parser.add_argument("--measure", type=Path, help="the rows in a file, as JSON, nothing else")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return
    from reporting import finish, print_table

    header = ["case", "side", "seconds", "ess", "rhat", "iterations", "trustworthy"]
    table, bounds = [], []
    for case in options.only:
        kind, n_features, n_rows = CASES[case]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.pickle"
            file.write_bytes(pickle.dumps(rows_of(kind, n_features, n_rows // options.shrink)))
            found = {"now": side(HERE, file)}
            if options.against:
                found["before"] = side(options.against.resolve(), file)
        for name, one in found.items():
            blank = {"seconds": float(LONGEST), "trustworthy": False}
            one = one or {**dict.fromkeys(header, float("nan")), **blank}
            table.append([case, name, *(one[key] for key in header[2:])])
        now, before = found["now"], found.get("before")
        if case in WANTED and options.against:
            earlier = before["seconds"] if before else float(LONGEST)
            share = now["seconds"] / earlier if now else float("inf")
            bounds.append(
                {
                    "bound": f"{case}: at most {WANTED[case]:.2g} of the time of before",
                    "measured": f"{share:.2f}" + ("" if before else " (before: stopped)"),
                    "met": share <= WANTED[case],
                }
            )
    if options.shrink > 1:
        print_table(header, table)
        return
    finish("scaling", header, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
