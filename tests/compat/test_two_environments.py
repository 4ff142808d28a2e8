"""What one version of Python and its packages saves, the other reads, and both draw one law."""

import os
import pickle
import subprocess

import numpy as np
import pytest

import bayesmargin
from bayesmargin.diagnostics.convergence import bulk_ess
from tests.compat.other_environment import ROOT, law, main, other_python, rows_for
from tests.saving import fitted

OTHER = other_python()


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder that the other environment has filled."""
    if OTHER is None:
        pytest.skip("there is one environment: make test and make test-newest make two")
    folder = tmp_path_factory.mktemp("theirs")
    words = [str(OTHER), "-m", "tests.compat.other_environment", str(folder)]
    paths = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run(words, check=True, cwd=ROOT, env={**os.environ, **paths})
    return folder


@pytest.mark.parametrize("name", fitted.MODELS)
def test_models_of_the_other_environment_say_the_same_here(name, theirs):
    place = list(fitted.MODELS).index(name)
    model = bayesmargin.load(theirs / str(place))
    here = fitted.answers(model, rows_for(name))
    there = pickle.loads((theirs / f"{place}.pickle").read_bytes())
    assert here.keys() == there.keys()
    for call, answer in there.items():
        if getattr(answer, "dtype", np.dtype(object)).kind == "f":
            np.testing.assert_allclose(here[call], answer, rtol=1e-9, atol=1e-12, err_msg=call)
        else:
            assert fitted.same(here[call], answer), call


def test_draws_of_both_environments_have_one_law(theirs):
    ours, others = law(3)["coef"], np.load(theirs / "draws.npy")
    error = np.hypot(*(d.std(axis=(0, 1)) / np.sqrt(bulk_ess(d)) for d in (ours, others)))
    away = (ours.mean(axis=(0, 1)) - others.mean(axis=(0, 1))) / error
    assert np.abs(away).max() < 4.0
    spread = ours.std(axis=(0, 1)) / others.std(axis=(0, 1))
    np.testing.assert_allclose(spread, 1.0, atol=0.1)


def test_the_writer_writes_every_model(tmp_path, monkeypatch):
    monkeypatch.setattr(fitted, "MODELS", {"linear": fitted.MODELS["linear"]})
    main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"0", "0.pickle", "draws.npy"}
