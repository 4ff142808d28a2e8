"""What a fresh process pays before its first answer, beside what scikit-learn alone pays.

    python benchmarks/startup.py [--repeats N]

Medians of processor seconds of whole processes, compiled code kept on disk by an earlier run:
importing scikit-learn (whose validation every estimator stands on), importing ``bayesmargin``,
``bayesmargin predict`` of a thousand rows, and a fit. A fit is made twice in the same process; what
the process takes beyond the second fit is what starting costs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from bayesmargin import BayesianLinearSVC
from options import command_line
from reporting import finish

FIT = """
import json, time
import numpy as np
from bayesmargin import BayesianLinearSVC
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10))
y = X[:, 0] + rng.logistic(size=2000) > 0
BayesianLinearSVC(random_state=0, n_jobs=1).fit(X, y)
start = time.process_time()
BayesianLinearSVC(random_state=0, n_jobs=1).fit(X, y)
print(json.dumps({"again": time.process_time() - start}))
"""
HEADER = ["process", "processor seconds"]
GOAL = 1.5


def seconds_of(arguments: list[str], repeats: int) -> tuple[float, str]:
    """Median of the processor seconds of a process, the first run left out, and its last output."""
    taken = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, *arguments],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(taken[1:]), done.stdout


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        model, table = Path(folder, "model"), Path(folder, "rows.csv")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1000, 10))
        y = X[:, 0] + rng.logistic(size=1000) > 0
        BayesianLinearSVC(random_state=0).fit(X, y).save(model)
        np.savetxt(table, X, delimiter=",")
        sklearn, _ = seconds_of(["-c", "import sklearn.base"], repeats)
        ours, _ = seconds_of(["-c", "import bayesmargin"], repeats)
        shell = ["-m", "bayesmargin", "predict", str(model), str(table)]
        predict, _ = seconds_of([*shell, "--output", str(Path(folder, "out.csv"))], repeats)
    fit, said = seconds_of(["-c", FIT], repeats)
    again: float = json.loads(said.splitlines()[-1])["again"]
    rows = [
        ["import sklearn.base", sklearn],
        ["import bayesmargin", ours],
        ["bayesmargin predict", predict],
        ["two fits, imports included", fit],
        ["the second of them", again],
    ]
    beyond = fit - 2 * again
    bounds = [
        {
            "bound": f"bayesmargin predict takes at most {GOAL} s",
            "measured": f"{predict:.2f} s, of which importing scikit-learn {sklearn:.2f} s",
            "met": predict <= GOAL,
        },
        {
            "bound": f"the first fit of a second process takes at most {GOAL} s more than the next",
            "measured": f"{beyond:.2f} s, of which importing scikit-learn {sklearn:.2f} s",
            "met": beyond <= GOAL,
        },
    ]
    finish("startup", HEADER, rows, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
