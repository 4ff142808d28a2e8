"""The validation tools: they pass what is right, and a kernel of one's own can be handed in."""

import numpy as np
import pytest

from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    AusterityMetropolis,
    LangevinMC,
    SubgradientHMC,
)
from bayesmargin.validation import (
    agreement,
    as_transition,
    calibration_ranks,
    draw_joint,
    geweke_test,
    kernel_stein_discrepancy,
    quadrature,
    run_kernel,
)
from bayesmargin.validation.problems import GEWEKE_ROWS, five_rows, small_problem, three_classes
from bayesmargin.validation.quadrature import energies

RAW = {"preconditioner": None, "control_variates": False}
TWO = small_problem(GEWEKE_ROWS, [0, 0, 0], cost=1.2)
THREE = small_problem(GEWEKE_ROWS[:, :1], [0, 0, 0], n_classes=3, cost=1.2)
LAPLACE = small_problem(GEWEKE_ROWS, [0, 0, 0], cost=1.2, prior="laplace", prior_scale=0.7)
KERNELS = {
    "gibbs": (AugmentationGibbs(), 1),
    "gibbs_coordinate": (AugmentationGibbs(form="coordinate"), 1),
    "gibbs_wide": (AugmentationGibbs(form="wide"), 1),
    "hmc": (SubgradientHMC(step=0.4, n_steps=4), 1),
    "hmc that crosses kinks": (SubgradientHMC(step=0.8, n_steps=2, crossing=True), 1),
    "lmc": (LangevinMC(step=1.0), 1),
    "srwm": (AusterityMetropolis(epsilon=0.0, step=1.0, preconditioner=None), 3),
    "ssgld": (SSGLD(step=0.15, **RAW), 20),
    "ssgnht": (SSGNHT(step=0.1, **RAW), 10),
    "ssgnht_batch": (SSGNHT(step=0.05, batch_size=2, **RAW), 20),
    "euler": (SSGNHT(step=0.01, integrator="euler", **RAW), 100),
    "sghmc": (SGHMC(step=0.02, **RAW), 50),
}


def test_joint_law_has_the_moments_of_quadrature():
    weights, labels = draw_joint(TWO, 400_000, np.random.default_rng(0))
    sign = 2.0 * labels - 1.0
    found = [
        weights[:, 0] ** 2,
        weights[:, 1] ** 2,
        weights[:, 0] * weights[:, 1],
        weights[:, 0] * sign[:, 0],
        weights[:, 1] * sign[:, 0],
    ]
    for values, truth in zip(found, [1.35149, 1.31520, -0.21073, 0.77589, -0.04734], strict=True):
        assert abs(values.mean() - truth) < 4.0 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_passes_the_geweke_test(name):
    sampler, thin = KERNELS[name]
    result = geweke_test(sampler, TWO, n_draws=6000, thin=thin, seed=1)
    assert result.passes(), dict(zip(result.names, result.scores, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("problem", [THREE, LAPLACE], ids=["three classes", "laplace"])
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_passes_with_three_classes_and_with_a_laplace_prior(name, problem):
    sampler, thin = KERNELS[name]
    result = geweke_test(sampler, problem, n_draws=15_000, thin=thin, seed=2)
    assert result.passes(), dict(zip(result.names, result.scores, strict=True))


def own_random_walk(problem):
    """A kernel as a researcher would write it: plain Metropolis in NumPy."""

    def kernel(weights, rng):
        for _ in range(2):
            proposal = weights + rng.standard_normal(weights.size)
            old, new = energies(problem, np.stack([weights, proposal]))
            if np.log(rng.random()) < old - new:
                weights = proposal
        return weights

    return kernel


def test_a_kernel_of_ones_own():
    assert geweke_test(own_random_walk, TWO, n_draws=4000, seed=3).passes()
    assert calibration_ranks(own_random_walk, TWO, n_sets=150, n_draws=19, thin=5).passes()


@pytest.mark.parametrize("sampler", [AugmentationGibbs(), SubgradientHMC(step=0.4, n_steps=4)])
def test_ranks_are_uniform(sampler):
    ranks = calibration_ranks(sampler, TWO, n_sets=500, n_draws=19, thin=4, seed=4)
    assert ranks.ranks.min() >= 0
    assert ranks.ranks.max() <= 19
    assert ranks.passes(), ranks.p_values()


def test_two_samplers_agree_and_a_shifted_one_does_not():
    rng = np.random.default_rng(5)
    runs = [
        run_kernel(as_transition(sampler)(five_rows()), np.zeros(2), 6000, 100, rng)[None]
        for sampler in (AugmentationGibbs(), LangevinMC(step=0.9))
    ]
    assert agreement(*runs).agrees()
    assert not agreement(runs[0], runs[1] + 0.15).agrees()
    assert not agreement(runs[0], runs[1] * 1.1).agrees()


@pytest.mark.parametrize("make", [five_rows, three_classes])
def test_stein_discrepancy_tells_right_from_wrong(make):
    problem = make()
    reference = quadrature(problem, 400 if problem.n_weights == 2 else 80)
    rng = np.random.default_rng(6)
    chosen = rng.choice(len(reference.points), 1500, p=reference.probability)
    jitter = np.ptp(reference.points, axis=0) / reference.shape[0]
    draws = reference.points[chosen] + (rng.random((1500, problem.n_weights)) - 0.5) * jitter
    assert kernel_stein_discrepancy(problem, draws).p_value > 0.01
    wide = reference.mean + 1.25 * (draws - reference.mean)
    assert kernel_stein_discrepancy(problem, wide).p_value < 0.01
    shifted = draws + 0.3 * draws.std(axis=0)
    assert kernel_stein_discrepancy(problem, shifted).p_value < 0.01


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match="1 to 3 weights"):
        quadrature(small_problem(np.eye(4), [0, 1, 0, 1]))
    with pytest.raises(ValueError, match="labellings"):
        geweke_test(AugmentationGibbs(), small_problem(np.ones((12, 1)), np.zeros(12)))
    with pytest.raises(ValueError, match="give the sampler a step"):
        as_transition(SSGNHT())(TWO)
