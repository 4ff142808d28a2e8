"""The sweep in single precision: the same sums where it is chosen, and not chosen elsewhere."""

import numpy as np
import pytest

from bayesmargin.augmentation import mixing as augmentation_mixing
from bayesmargin.augmentation.blocks import ROWS, blocks_of
from bayesmargin.augmentation.mixing import gibbs_work
from bayesmargin.augmentation.single import HEAVY, LARGEST_LOSS, loss_in_single
from bayesmargin.foundation.compiling import from_python
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import AugmentationGibbs
from bayesmargin.samplers.augmentation import augmented
from bayesmargin.targets.problem import Problem
from bayesmargin.validation import agreement

N_ROWS, N_COLUMNS = 20_000, 6
accumulate = from_python(augmentation_mixing.accumulate)


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
        accumulate(target, block, block, work)
    return np.triu(work.gram[:N_COLUMNS, : N_COLUMNS + 1])


@pytest.mark.parametrize("heavy", [0.0, 1e9])
def test_sums_agree_with_double_precision_also_beside_a_row_of_huge_weight(rows, heavy):
    problem = problem_of(rows.astype(np.float32).astype(float))
    double, single = augmented(problem), augmented(problem, "single")
    assert single.blocks.values.dtype == np.float32
    omega = 0.25 * np.random.default_rng(2).wald(1.0, 1.0, double.cost.shape) * double.cost
    scale = np.abs(gram_of(double, omega, omega)).max()
    omega[3, 5] += heavy
    # What is tested are the sums: both get the same numbers.
    pull = (omega + 0.5 * double.cost).astype(np.float32)
    omega = omega.astype(np.float32)
    error = gram_of(single, omega, pull) - gram_of(double, omega, pull)
    assert np.abs(error).max() < 1e-6 * scale


def test_heavy_rows_are_as_rare_as_stated(rows):
    full_blocks = problem_of(rows[: N_ROWS // ROWS * ROWS])
    ensemble = AugmentationGibbs(arithmetic="single").start(full_blocks, spawn_generators(0, 2))
    chain = ensemble.chains[0]
    shares = []
    for _ in range(200):
        chain.run(1, 1)
        shares.append(np.mean(4.0 * chain.work.omega[0] > HEAVY))  # of the last block of the sweep
    assert 0.0 < np.mean(shares) < 0.005


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


def test_both_precisions_have_the_same_law(rows):
    problem = problem_of(rows)
    found = []
    for seed, arithmetic in enumerate(("double", "single")):
        sampler = AugmentationGibbs(arithmetic=arithmetic)
        chains = sampler.start(problem, spawn_generators(seed, 5)).chains
        for chain in chains:
            chain.run(50, 1)
            chain.forget()
            chain.run(1000, 1)
        found.append(np.stack([chain.draws[0] for chain in chains]))
    assert agreement(*found).agrees()


def test_unknown_arithmetic_is_refused():
    with pytest.raises(ValueError, match="arithmetic='half'"):
        AugmentationGibbs(arithmetic="half")
