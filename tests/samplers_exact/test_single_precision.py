"""The sweep in single precision: the same sums where it is chosen, and not chosen elsewhere."""

import numpy as np
import pytest

from bayesmargin.beliefs import GaussianBelief
from bayesmargin.problem import Problem
from bayesmargin.random import spawn_generators
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import AugmentationGibbs
from bayesmargin.samplers.augmentation import accumulate, gibbs_work
from bayesmargin.samplers.augmentation_blocks import blocks_of
from bayesmargin.samplers.augmentation_settings import augmented
from bayesmargin.samplers.augmentation_single import HEAVY, LARGEST_LOSS, loss_in_single

N_ROWS, N_COLUMNS = 20_000, 6


def problem_of(rows):
    rng = np.random.default_rng(1)
    label = (rows[:, 0] + rng.standard_normal(len(rows)) > rows[:, 0].mean()).astype(np.int64)
    prior = GaussianBelief(np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
    return Problem(DenseSource(rows, False), label, 2, np.ones(len(rows)), 1.0, prior)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS))


def chosen(problem):
    return AugmentationGibbs().start(problem, spawn_generators(0, 2)).info["arithmetic"]


def gram_of(target, omega, pull):
    """Gram matrix and linear term as the sweep adds them up."""
    work = gibbs_work(target)
    work.omega[:], work.pull[:] = omega, pull
    for block in range(len(work.omega)):
        accumulate(target, block, work)
    return np.triu(work.gram[:N_COLUMNS, : N_COLUMNS + 1])


@pytest.mark.parametrize("heavy", [0.0, 1e9])
def test_sums_agree_with_double_precision_also_beside_a_row_of_huge_weight(rows, heavy):
    problem = problem_of(rows.astype(np.float32).astype(float))
    double, single = augmented(problem), augmented(problem, "single")
    assert single.blocks.values.dtype == np.float32
    omega = 0.25 * np.random.default_rng(2).wald(1.0, 1.0, double.cost.shape) * double.cost
    scale = np.abs(gram_of(double, omega, omega)).max()
    omega[3, 5] += heavy
    pull = omega + 0.5 * double.cost
    error = gram_of(single, omega, pull) - gram_of(double, omega, pull)
    assert np.abs(error).max() < 1e-6 * scale


def test_heavy_rows_are_as_rare_as_stated(rows):
    ensemble = AugmentationGibbs(arithmetic="single").start(
        problem_of(rows), spawn_generators(0, 2)
    )
    chain = ensemble.chains[0]
    chain.run(20, 1)
    share = np.mean(4.0 * chain.work.omega > HEAVY)
    assert share < 0.005


def test_plain_rows_are_swept_in_single_precision(rows):
    problem = problem_of(rows)
    assert loss_in_single(problem, blocks_of(problem)) < 1e-6
    assert chosen(problem) == "float32"


def test_small_problems_stay_in_double_precision(rows):
    problem = problem_of(rows[:1000])
    assert chosen(problem) == "float64"


@pytest.mark.parametrize("kind", ["collinear", "offset", "overflow"])
def test_rows_that_single_precision_would_change_stay_in_double(rows, kind):
    rows = rows.copy()
    if kind == "collinear":
        rows[:, 1] = rows[:, 0] + 1e-4 * rows[:, 1]
    elif kind == "offset":
        rows[:, 1:3] += 1e4
    else:
        rows[:, 1] *= 1e30
    problem = problem_of(rows)
    with np.errstate(over="ignore"):
        assert loss_in_single(problem, blocks_of(problem)) > LARGEST_LOSS
    assert chosen(problem) == "float64"


def test_same_seed_gives_nearly_the_same_chain_for_a_while(rows):
    """Until rounding flips a choice, the chains walk together."""
    problem = problem_of(rows)
    walks = []
    for arithmetic in ("double", "single"):
        sampler = AugmentationGibbs(arithmetic=arithmetic)
        chain = sampler.start(problem, spawn_generators(0, 2)).chains[0]
        chain.run(3, 1)
        walks.append(chain.draws[0])
    assert np.abs(walks[0] - walks[1]).max() < 1e-4


def test_unknown_arithmetic_is_refused():
    with pytest.raises(ValueError, match="arithmetic='half'"):
        AugmentationGibbs(arithmetic="half")
