"""What a mixture says about itself, in a sentence, and in the mapping that it always was."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin import DPMNLClassifier, InfiniteSVC, load
from bayesmargin.cli.trust import diagnostics_document, trust
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.mixtures.convergence import warn_if_unsettled
from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics

RESTLESS = {"mean": 1.0, "r_hat": 1.8, "effective_draws": 3.0}
EXPERTS = {"mean": 1.0, "error": 0.1, "r_hat": 1.4, "effective_draws": 90.0}


def found(r_hat, effective=90.0, n_chains=1, **more):
    figures = {"mean": -9.0, "r_hat": r_hat, "effective_draws": effective}
    return MixtureDiagnostics({"partition": figures, **more}, np.full((n_chains, 50), 4))


@pytest.mark.parametrize(
    ("diagnostics", "trustworthy", "words"),
    [
        (found(1.01), True, "The chain has settled; whether other starts arrive there"),
        (found(1.01, n_chains=2), True, "The chains can be trusted (worst R-hat 1.010"),
        (found(1.2), False, "The partition has NOT settled: increase n_sweeps (worst R-hat 1.200"),
        (found(1.01, 7.0), False, "The partition has NOT settled: increase n_sweeps"),
        (found(1.01, experts=EXPERTS), False, "The experts have NOT settled: increase n_sweeps"),
        (found(1.01, joining=24.0), True, "The chain has settled"),
        (found(1.01, joining=30.0), False, "There are too MANY components (two would be 30 nats"),
        (found(1.01, interrupted=True), False, "The run was interrupted and should NOT be trusted"),
        (found(math.nan, math.nan), False, "Nothing tells whether the chain is stuck"),
        (found(math.inf, n_chains=2), False, "The chains are stuck at different partitions"),
        (MixtureDiagnostics({}, [4, 5]), None, "No convergence check applies; 4.5 components"),
    ],
)
def test_verdicts(diagnostics, trustworthy, words):
    assert diagnostics.trustworthy is trustworthy
    assert str(diagnostics).startswith(words)
    assert str(diagnostics).endswith("components on average.") or "on average)." in str(diagnostics)


def test_a_quantity_that_stood_still_does_not_hide_one_that_is_bad():
    still = {"mean": 0.0, "r_hat": math.nan, "effective_draws": math.nan}
    assert str(found(1.3, components=still)).startswith("The partition has NOT settled")
    assert "worst R-hat 1.300, of the partition; 90 effective" in str(found(1.3, components=still))
    assert str(found(1.01, components=still)).startswith("Nothing tells")


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize("kind", [InfiniteSVC, DPMNLClassifier])
def test_it_is_still_the_mapping_it_was(kind, tmp_path):
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = kind(n_sweeps=60, random_state=0)
    assert not hasattr(model, "diagnostics_")
    diagnostics = model.fit(X, y).diagnostics_
    assert isinstance(diagnostics, dict)
    assert type(vars(model)["diagnostics_"]) is dict
    assert diagnostics["components"]["r_hat"] > 0.9
    assert json.loads(json.dumps(diagnostics)) == diagnostics
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert other.diagnostics_ == diagnostics
        assert str(other.diagnostics_) == str(diagnostics)
    assert trust(model) == (diagnostics.trustworthy, str(diagnostics))
    assert diagnostics_document(model)["components"] == diagnostics["components"]


def test_runs_too_short_to_judge_are_not_doubtful():
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = InfiniteSVC(n_sweeps=8, random_state=0).fit(X, y)
    assert trust(model)[0] is None


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"partition": RESTLESS}, "the partition has not settled.*co-clustering"),
        ({"experts": {**RESTLESS, "error": 0.1}}, "the experts have not settled.*their weights"),
        ({"partition": RESTLESS, "joining": 400.0}, "more probable as one, by 400 nats"),
    ],
)
def test_one_warning_says_what_is_wrong(figures, words):
    with pytest.warns(ConvergenceWarning, match=words):
        warn_if_unsettled(figures, 50)
