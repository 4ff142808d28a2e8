"""The spread of the experts, by Stein's identity, and metrics that do not follow the weights."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin import InfiniteSVC
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import MIXTURES, Hinge
from bayesmargin.models.infinite_svc.stein import stein_ratio
from bayesmargin.models.infinite_svc.weights_sweep import update_experts
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat
from bayesmargin.models.mixtures.convergence import warn_if_unsettled
from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics


def _chain(labels, clusters, classes=2, steps=4):
    rng = np.random.default_rng(0)
    hinge, design = Hinge(2.0, 1.0), rng.normal(size=(len(labels), 3))
    base = make_base(np.zeros(0), 1.0, 2.0, np.eye(0), 1.5, len(labels))
    rows = make_rows(np.zeros((len(labels), 0)), design, labels, base, hinge)
    settings = Settings(hinge, Thermostat(0.1, steps, 0, 1.0))
    return start_chain(rng, rows, base, settings, clusters, classes, 1.0)


@pytest.mark.parametrize("classes", [2, 4])
def test_ratio_is_weights_times_slope_of_the_energy(classes):
    rng = np.random.default_rng(1)
    chain = _chain(rng.integers(0, classes, 50), rng.integers(0, 3, 50), classes)
    for _ in range(3):
        chain.sweep()
    chain._sweep_assignments()

    def energy(factor):
        total = 0.0
        for slot in np.unique(chain.assignment.slot):
            weights = factor * chain.components.weights[slot]
            total += 0.5 * (weights**2).sum() / 1.5**2
            for d in np.flatnonzero(chain.assignment.slot == slot):
                scores, label = weights @ chain.rows.design[d], chain.rows.labels[d]
                if classes == 2:
                    total += 2.0 * max(0.0, 1.0 - (2 * label - 1) * scores[0])
                else:
                    lead = np.delete(scores, label).max() - scores[label]
                    total += 2.0 * max(0.0, 1.0 + lead)
        return total

    slope = (energy(1.0 + 1e-7) - energy(1.0 - 1e-7)) / 2e-7
    size = len(np.unique(chain.assignment.slot)) * chain.components.weights[0].size
    assert stein_ratio(chain.mixture) == pytest.approx(slope / size, rel=1e-5)


@pytest.mark.parametrize(
    "method",
    [
        "ssgnht",
        pytest.param("gibbs", marks=pytest.mark.slow),
        pytest.param("hmc", marks=pytest.mark.slow),
        pytest.param("ssgld", marks=pytest.mark.slow),
    ],
)
def test_experts_of_two_moons_are_as_wide_as_their_law_says(method):
    """With metrics that followed the weights the stochastic methods had three quarters."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = InfiniteSVC(sampler=method, n_sweeps=8000, n_chains=2, random_state=0).fit(X, y)
    found = model.diagnostics_["experts"]
    assert found["error"] < 0.04
    assert abs(found["mean"] - 1.0) < 0.02 + 4.0 * found["error"]


def test_metrics_are_learned_by_kind_and_only_when_told():
    labels = np.repeat([0, 1, 0], [40, 40, 5])
    clusters = np.repeat([0, 1], [80, 5])
    chain = _chain(labels, clusters)
    first = chain.components.sharpness.copy()
    for _ in range(5):
        chain.sweep()
    np.testing.assert_array_equal(chain.components.sharpness, first)
    for _ in range(5):
        chain.sweep(learning=True)
    learned = chain.components.sharpness.copy()
    assert (learned != first).any()
    assert chain.components.noted[learned == first].sum() == 0
    for _ in range(5):
        chain.sweep()
    np.testing.assert_array_equal(chain.components.sharpness, learned)


def test_kinds_are_sizes_and_mixtures_of_labels():
    labels = np.concatenate([np.zeros(70, int), np.tile([0, 0, 0, 0, 1], 60), [1]])
    clusters = np.repeat([0, 1, 2], [70, 300, 1])
    chain = _chain(labels, clusters)
    chain.warm_weights(1)
    update_experts(chain.settings.method, chain.source, chain.mixture)
    sizes, mixtures = np.divmod(chain.components.kind[:3], MIXTURES)
    assert sizes.tolist() == [3, 4, 0]  # powers of four
    assert mixtures.tolist() == [0, 4, 0]  # two in five differ from the one before


@pytest.mark.parametrize(("mean", "word"), [(0.6, "narrow"), (1.5, "wide")])
def test_a_wrong_spread_is_not_trusted(mean, word):
    good = {"mean": 4.0, "r_hat": 1.0, "effective_draws": 90.0}
    figures = {"components": good, "experts": {**good, "mean": mean, "error": 0.02}}
    found = MixtureDiagnostics(figures, np.full((2, 50), 4))
    assert not found.trustworthy
    assert f"Stein's ratio {mean:.2f} and not 1" in str(found)
    with pytest.warns(ConvergenceWarning, match=f"the experts are too {word}"):
        warn_if_unsettled(found, 50)


@pytest.mark.parametrize("method", ["gibbs", "hmc"])
def test_more_steps_in_a_sweep_let_exact_experts_settle(method):
    """The warning advises ``inner_steps``; passes and trajectories of a sweep are meant, too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    y = X @ rng.normal(size=6) + 0.3 * rng.normal(size=1000) > 0

    def far_from_one(**settings):
        model = InfiniteSVC(
            concentration=1e-9, components__covariates=False, prior_scale=10.0, sampler=method,
            sampler__n_clusters=1, n_sweeps=40, sampler__split_merge=0, sampler__joining=None,
            prediction="vote", random_state=0, **settings,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return abs(model.fit(X, y).diagnostics_["experts"]["mean"] - 1.0)

    assert far_from_one(sampler__inner_steps=1) == far_from_one()
    assert far_from_one(sampler__inner_steps=100) < 0.2 * far_from_one()
