"""Compiling ahead, and commands that leave out what they do not need."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from bayesmargin import warming
from bayesmargin.models.registry import WORDS
from tests.cli.conftest import answer, bayesmargin, failing


def test_every_model_has_a_rehearsal():
    models = {one.model.word for one in warming.rehearsals()}
    assert models == {*WORDS}
    assert {one.n_classes for one in warming.rehearsals(["linear"])} == {2, 3}
    assert len({one.name for one in warming.rehearsals()}) == len(warming.rehearsals())


def test_the_command_compiles_and_says_where(monkeypatch):
    ran = []
    monkeypatch.setattr(warming.Rehearsal, "run", lambda one: ran.append(one.name))
    told = answer("warm", "dpmnl")
    assert list(told["seconds"]) == ran == [one.name for one in warming.rehearsals(["dpmnl"])]
    assert told["folder"] in bayesmargin("warm", "dpmnl").out


def test_a_model_that_is_none_is_refused():
    assert failing(2, "warm", "linnear").startswith("there is no model 'linnear'")


def test_a_later_process_compiles_nothing():
    """Other rows than those of the rehearsal, in a process of their own."""
    next(one for one in warming.rehearsals(["linear"]) if one.rows == "dense rows").run()
    code = (
        "import numpy as np\n"
        "from numba.core import event\n"
        "seen = []\n"
        "class Ear(event.Listener):\n"
        "    def on_start(self, e): seen.append(str(e.data['dispatcher'].py_func.__module__))\n"
        "    def on_end(self, e): pass\n"
        "from bayesmargin import BayesianLinearSVC\n"
        "event.register('numba:compile', Ear())\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.standard_normal((300, 7)); y = X[:, 0] + rng.standard_normal(300) > 0\n"
        "BayesianLinearSVC(n_draws=100, random_state=0).fit(X, y).predict_proba(X)\n"
        "print([name for name in seen if name.startswith('bayesmargin')])\n"
    )
    words = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []


def test_predict_leaves_out_the_statistics_of_scipy(people, tmp_path):
    code = (
        "import sys\n"
        "from bayesmargin.cli.main import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print('scipy.stats._stats_py' in sys.modules)\n"
        "import scipy.stats\n"
        "print(round(scipy.stats.norm.cdf(0.0), 3))\n"
    )
    words = ["predict", str(people.model), str(people.csv), "-o", str(tmp_path / "out.csv")]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True,
        env=dict(os.environ),
    )  # fmt: skip
    assert done.stdout.splitlines()[-2:] == ["False", "0.5"]


@pytest.mark.parametrize("kind", ["dense rows", "word counts", "sparse rows"])
def test_rows_of_rehearsals_have_every_class(kind):
    one = warming.Rehearsal(WORDS["linear"], kind, 3, {})
    X, y = warming._data(one)
    assert X.shape[0] == len(y)
    assert set(np.unique(y)) == {0, 1, 2}
