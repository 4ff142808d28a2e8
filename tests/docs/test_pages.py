"""The programs in the README, the guides and the how-to pages run, one after another as printed.

What a page leaves to its reader (``X``, ``y``, a folder of files) is put there first. Pages that
need a cluster or a public data set are tested with their own subject.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import StandardScaler

import bayesmargin
from bayesmargin import BayesianLinearSVC

CHECKOUT = Path(bayesmargin.__file__).parents[2]
# A page that adds code to a file of the library is no program.
NO_PROGRAM = {"docs/how_to/step_schedules.md": "class Cyclic(NamedTuple)"}

if not (CHECKOUT / "docs").exists():
    pytest.skip("the documentation is not part of an installed package", allow_module_level=True)


def programs(page):
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return [piece.partition("```")[0] for piece in text.split("```python\n")[1:]]


@pytest.fixture(scope="module")
def table():
    """What most pages call X and y, and a fitted model."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :8]
    frame = pd.DataFrame(X[:400], columns=["age", *(f"c{j}" for j in range(1, 8))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLinearSVC(n_draws=100, random_state=0).fit(frame.to_numpy(), y[:400])
    names = {"X": frame, "y": y[:400], "X_new": X[400:], "y_new": y[400:]}
    more = {"X_more": X[400:], "y_more": y[400:], "X_test": X[400:], "y_test": y[400:]}
    stream = [(X[:300], y[:300]), (X[300:], y[300:])]
    return {**names, **more, "model": model, "stream": stream}


@pytest.fixture
def moons():
    X, y = make_moons(150, noise=0.2, random_state=0)
    train = {"X_train": X[:100], "y_train": y[:100], "X_test": X[100:], "y_test": y[100:]}
    return {"X": X, "rows": [1, 2, 3], **train}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that pages read, in the present folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)).astype("float32"), columns=list("abcd"))
    frame.to_parquet("new.parquet")
    (tmp_path / "clicks").mkdir()
    frame.assign(clicked=(frame["a"] > 0).astype(int)).to_parquet("clicks/0.parquet")
    words = ["moon", "tide", "nova", "goal", "team"]
    return {"texts": [" ".join(rng.choice(words, 12)) for _ in range(60)],
            "labels": np.arange(60) % 2, "columns": [f"c{j}" for j in range(8)]}  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        "README.md", "docs/index.md", "docs/guides/infinite_svm.md",
        "docs/guides/large_data.md", "docs/guides/report.md",
        "docs/how_to/chains_did_not_mix.md", "docs/how_to/choosing_c_and_margin.md",
        "docs/how_to/data_do_not_fit.md", "docs/how_to/probabilities.md",
        "docs/how_to/step_schedules.md",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
@pytest.mark.filterwarnings("ignore:X (does not have|has) .*feature names:UserWarning")
def test_programs_of_page(page, table, moons, folder):
    given = {**table, **folder} | (moons if page.endswith("infinite_svm.md") else {})
    pieces = programs(page)
    assert pieces
    for number, piece in enumerate(pieces):
        if page in NO_PROGRAM and NO_PROGRAM[page] in piece:
            continue
        exec(compile(piece, f"{page}, program {number}", "exec"), given)
