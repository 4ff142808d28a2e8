"""Weights samplers with the assignments held fixed, against quadrature (fixtures F2 and F3)."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import from_python, jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.models.infinite_svc.anchor import batch_rows, refresh_anchor
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.settings import make_method
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation, multiclass_view
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian
from bayesmargin.models.infinite_svc.weights_langevin import Langevin
from bayesmargin.models.infinite_svc.weights_sweep import update_experts
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat
from bayesmargin.models.mixtures.settings import weights_of

HINGE = Hinge(1.0, 1.0)
BINARY = (
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]]),
    np.array([1, 0, 1, 1, 0]),
    np.array([[0.489688, -0.833413]]),
    np.array([[0.597300, 1.131521]]),
)
THREE = (
    np.array([[1.0], [-1.0], [2.0], [0.5]]),
    np.array([0, 1, 2, 0]),
    np.array([[0.3594], [-0.7824], [0.4230]]),
    np.array([[0.6689], [1.2317], [0.7092]]),
)


@jit
def _run(method, source, mixture, draws):
    for t in range(draws.shape[0]):
        refresh_anchor(0, mixture)
        update_experts(method, source, mixture)
        copy_matrix(mixture.components.weights[0], draws[t])


def _draws(problem, method, number, seed=3, hinge=HINGE):
    design, labels, *_ = problem
    base = make_base(np.zeros(0), 1.0, 2.0, np.eye(0), 1.0, len(labels))
    rows = make_rows(np.zeros((len(labels), 0)), design, labels, base, hinge)
    chain = start_chain(
        np.random.default_rng(seed), rows, base, Settings(hinge, method),
        np.zeros(len(labels), int), int(labels.max()) + 1, 1.0,
    )  # fmt: skip
    draws = np.empty((number, *chain.components.weights.shape[1:]))
    for learning, part in ((1, draws[: number // 20]), (0, draws[number // 20 :])):
        chain.components.learning[0] = learning
        _run(method, chain.source, chain.mixture, part)
    return draws[number // 20 :]


def weights_for(name, batch_size):
    """Settings of a weights sampler, with its own batches where none are given."""
    weights = weights_of(name)
    return weights if batch_size is None else weights.set_params(batch_size=batch_size)


def _error(values, batches=50):
    """Monte Carlo standard error by batch means."""
    length = len(values) // batches
    means = values[: length * batches].reshape(batches, length, *values.shape[1:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(batches)


@pytest.mark.parametrize("problem", [BINARY, THREE], ids=["F2", "F3"])
@pytest.mark.parametrize(
    ("method", "sweeps"),
    [
        (Augmentation(1), 100_000), (Hamiltonian(0.4, 6), 100_000),
        (Augmentation(5), 20_000), (Hamiltonian(0.4, 6, 5), 20_000),
    ],
    ids=["gibbs", "hmc", "gibbs, five passes", "hmc, five trajectories"],
)  # fmt: skip
def test_exact_methods_agree_with_quadrature(problem, method, sweeps):
    draws = _draws(problem, method, sweeps)
    for power, truth in ((1, problem[2]), (2, problem[3])):
        gap = np.abs((draws**power).mean(axis=0) - truth)
        assert np.all(gap < 4.5 * _error(draws**power) + 1e-4)


@pytest.mark.parametrize("problem", [BINARY, THREE], ids=["F2", "F3"])
@pytest.mark.parametrize(
    "method",
    [Thermostat(0.1, 10, 3, 1.0), Langevin(0.15, 10, 3)],
    ids=["ssgnht", "ssgld"],
)
def test_stochastic_methods_have_a_small_bias(problem, method):
    draws = _draws(problem, method, 60_000)
    for power, truth in ((1, problem[2]), (2, problem[3])):
        gap = np.abs((draws**power).mean(axis=0) - truth)
        assert np.all(gap < 4.5 * _error(draws**power) + 0.05 * np.sqrt(problem[3]))


@pytest.mark.parametrize("problem", [BINARY, THREE], ids=["F2", "F3"])
@pytest.mark.parametrize("steps", [1, 4])
def test_a_long_step_of_the_thermostat_is_right_where_the_energy_is_quadratic(problem, steps):
    """Rows that count for nothing leave the prior; the step's positions have its variance."""
    method, hinge = Thermostat(0.8, steps, 0, 1.0), Hinge(1e-9, 1.0)
    draws = _draws(problem, method, 100_000, hinge=hinge).reshape(95_000, -1)
    gap = np.abs((draws**2).mean(axis=0) - 1.0)
    assert np.all(gap < 4.5 * _error(draws**2))


@pytest.mark.parametrize(
    ("n_rows", "n_draws"), [(200, 8000), pytest.param(2000, 6000, marks=pytest.mark.slow)]
)
def test_the_default_spreads_like_the_exact_sampler_and_a_small_batch_does_not(n_rows, n_draws):
    rng = np.random.default_rng(0)
    design = rng.normal(size=(n_rows, 4))
    labels = (design @ rng.normal(size=(4, 3)) + rng.normal(size=(n_rows, 3))).argmax(axis=1)

    def contrasts(name, batch_size):
        steps = 1 if name == "gibbs" else 10
        draws = _draws((design, labels), make_method(weights_for(name, batch_size), steps), n_draws)
        return draws - draws.mean(axis=1, keepdims=True)

    def spread(draws):
        return (draws @ design[:50].T).var(axis=0)

    exact = contrasts("gibbs", None)
    _, axes = np.linalg.eigh(np.cov(exact.reshape(len(exact), -1).T))
    axes = axes[:, 4:]  # the first four belong to what the classes share

    def along_axes(draws):
        return (draws.reshape(len(draws), -1) @ axes).var(axis=0)

    for name in ("ssgnht", "ssgld"):
        assert abs((spread(contrasts(name, None)) / spread(exact)).mean() - 1.0) < 0.05
    small = along_axes(contrasts("ssgnht", 4)) / along_axes(exact)
    assert small[0] > 1.2  # hot where the posterior is narrow
    assert small[-1] < 0.9  # which the thermostat makes up for where it is wide


@pytest.mark.parametrize(
    ("name", "batch_size"), [("ssgnht", None), ("ssgnht", 16), ("gibbs", None)]
)
def test_what_the_classes_share_keeps_its_prior(name, batch_size):
    """No hinge sees the mean of the weight vectors, so it is N(0, 1/3) whatever the rows say."""
    rng = np.random.default_rng(1)
    design = rng.normal(size=(200, 4))
    labels = (design @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3))).argmax(axis=1)
    steps = 1 if name == "gibbs" else 10
    draws = _draws((design, labels), make_method(weights_for(name, batch_size), steps), 8000)
    shared = draws.mean(axis=1)
    for power, truth in ((1, 0.0), (2, 1 / 3), (4, 1 / 3)):
        gap = np.abs((shared**power).mean(axis=0) - truth)
        assert np.all(gap < 4.5 * _error(shared**power))
    if name == "ssgnht":  # drawn afresh in every sweep
        later, earlier = shared[1:], shared[:-1]
        assert np.all(np.abs((later * earlier).mean(axis=0)) < 4.5 / 3 / np.sqrt(len(later)))


def test_all_rows_of_small_components_and_a_root_of_large_ones_are_read_in_a_step():
    rows = from_python(batch_rows)
    assert [rows(0, count, 3) for count in (1, 100, 256)] == [16, 160, 256]
    assert [rows(0, 40_000, vectors) for vectors in (1, 5, 10, 20)] == [3200, 3200, 6400, 12_800]
    assert rows(7, 40_000, 20) == 7


@pytest.mark.slow
def test_narrow_directions_of_many_classes_are_not_too_wide():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(3000, 4))
    labels = (design @ rng.normal(size=(4, 10)) + rng.gumbel(size=(3000, 10))).argmax(axis=1)

    def draws(batch_size):
        found = _draws((design, labels), make_method(weights_for("ssgnht", batch_size), 10), 10_000)
        return (found - found.mean(axis=1, keepdims=True)).reshape(len(found), -1)[1500:]

    every_row = draws(3000)
    chosen, judged = np.array_split(every_row, 2)
    _, axes = np.linalg.eigh(np.cov(chosen.T))
    axes = axes[:, 4:11]  # the first four belong to what the classes share
    exact = (judged @ axes).var(axis=0)

    def excess(batch_size):
        return ((draws(batch_size) @ axes).var(axis=0) / exact).mean() - 1.0

    default, small = excess(None), excess(877)  # 877: sixteen roots of 3000
    assert abs(default) < 0.04
    assert small > default + 0.02


def test_one_vector_view_of_the_multiclass_hinge():
    rng, view = np.random.default_rng(0), from_python(multiclass_view)
    for _ in range(500):
        scores, label = 2 * rng.normal(size=5), int(rng.integers(5))
        y, moved = int(rng.integers(5)), 3 * rng.normal()
        side, threshold = view(scores, label, y, 1.0)

        def hinge(values, label=label):
            return max(0.0, 1.0 + np.delete(values, label).max() - values[label])

        changed = scores.copy()
        changed[y] = moved
        difference = max(0.0, side * (threshold - moved)) - max(0.0, side * (threshold - scores[y]))
        assert hinge(changed) - hinge(scores) == pytest.approx(difference, abs=1e-12)
