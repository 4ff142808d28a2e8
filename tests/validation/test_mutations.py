"""Known mistakes, planted one at a time: the suite must catch each, and pass the original."""

from dataclasses import replace

import numpy as np
import pytest

from bayesmargin.foundation.compiling import jit
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.samplers import SSGLD, AugmentationGibbs, SubgradientHMC
from bayesmargin.targets.base import estimate_gradient
from bayesmargin.targets.rows import workspace
from bayesmargin.validation import as_transition, calibration_ranks, geweke_test
from bayesmargin.validation.kernels import plain_target, target_kernel
from bayesmargin.validation.problems import GEWEKE_ROWS, small_problem

RAW = {"preconditioner": None, "control_variates": False}
TWO = small_problem(GEWEKE_ROWS, [0, 0, 0], cost=1.2)
THREE = small_problem(GEWEKE_ROWS[:, :1] * 2.0, [0, 0, 0], n_classes=3, cost=1.2)
STEP, THIN = 0.15, 20
LANGEVIN = SSGLD(step=STEP, batch_size=1, **RAW)


@jit
def estimate(target, position, rng, work):
    estimate_gradient(target, position, rng, work)


def langevin(problem, change=lambda target: target, batch_size=1):
    """The library's own SSGLD on a target that may have been tampered with."""
    target = change(plain_target(problem, batch_size, np.random.default_rng(0)).target)
    return target_kernel(LANGEVIN.dynamics(STEP, 3), target, THIN)


def sign_slip(problem):
    """Minus c y x in the active case, as printed in the paper."""

    def change(target):
        return target._replace(hinge=target.hinge._replace(cost=-target.hinge.cost))

    return langevin(problem, change)


def prior_counted_for_every_batch(problem):
    """D/B multiplies the whole energy, the prior included."""

    def change(target):
        return target._replace(prior=target.prior._replace(curvature=3.0 * target.prior.curvature))

    return langevin(problem, change)


def doubled_cost(problem):
    """The convention exp(-2 c hinge) of other papers taken for this one."""
    return langevin(replace(problem, cost=2.0 * problem.cost))


def noise_of_variance(factor):
    """Langevin whose noise has ``factor`` times the variance that belongs to its drift."""

    def transition(problem):
        target = plain_target(problem, 3, np.random.default_rng(0)).target
        work = workspace(target, np.float32)

        def kernel(weights, rng):
            position = weights.copy()
            for _ in range(THIN):
                estimate(target, position, rng, work)
                noise = np.sqrt(factor) * STEP * rng.standard_normal(position.size)
                position += noise - 0.5 * STEP**2 * work.gradient
            return position

        return kernel

    return transition


def forgotten_batch_scale(problem):
    """A minibatch whose sum is not multiplied by D/B."""

    def change(target):
        return target._replace(hinge=target.hinge._replace(cost=target.hinge.cost / 3.0))

    return langevin(problem, change)


def wrong_margin(problem):
    """The margin left out of the slack."""
    return langevin(replace(problem, margin=0.0))


def augmentation_of_twice_the_cost(problem):
    """The formulas of Polson and Scott without c -> c/2."""
    return as_transition(AugmentationGibbs())(replace(problem, cost=2.0 * problem.cost))


def wide_prior(problem):
    """Standard deviation taken for variance: s^2 = 2 becomes s = 2."""
    prior = GaussianBelief(problem.prior.mean, 0.5 * problem.prior.precision)
    return as_transition(SubgradientHMC(step=0.4, n_steps=4))(replace(problem, prior=prior))


MISTAKES = {
    "sign slip": sign_slip,
    "prior scaled by D/B": prior_counted_for_every_batch,
    "doubled c": doubled_cost,
    "noise of twice the variance": noise_of_variance(2.0),
    "noise of half the variance": noise_of_variance(0.5),
    "batch not scaled": forgotten_batch_scale,
    "margin left out": wrong_margin,
    "doubled c in the augmentation": augmentation_of_twice_the_cost,
    "prior variance doubled": wide_prior,
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_geweke_test_catches(name):
    result = geweke_test(MISTAKES[name], TWO, n_draws=5000, seed=7)
    assert result.worst > 5.0, (name, result.worst)


@pytest.mark.parametrize(
    "right",
    [langevin, noise_of_variance(1.0), AugmentationGibbs(), SubgradientHMC(step=0.4, n_steps=4)],
    ids=["langevin", "own langevin", "gibbs", "hmc"],
)
def test_the_unspoilt_kernels_pass(right):
    assert geweke_test(right, TWO, n_draws=5000, seed=7).passes()


def test_the_frozen_runner_up_is_caught():
    frozen = AugmentationGibbs(legacy_frozen_argmax=True)
    assert geweke_test(frozen, THREE, n_draws=5000, seed=8).worst > 6.0
    assert geweke_test(AugmentationGibbs(), THREE, n_draws=5000, seed=8).passes()


@pytest.mark.parametrize("name", ["sign slip", "doubled c", "prior scaled by D/B"])
def test_calibration_ranks_catch(name):
    ranks = calibration_ranks(MISTAKES[name], TWO, n_sets=400, n_draws=19, thin=3, burn_in=8)
    assert not ranks.passes(), (name, ranks.p_values())


def test_labels_drawn_from_the_prior_predictive_would_accuse_a_right_sampler():
    """The joint law of a pseudo-likelihood is not prior times normalised likelihood."""
    from bayesmargin.validation import draw_joint

    weights, _ = draw_joint(TWO, 200_000, np.random.default_rng(0))
    variance = weights.var(axis=0)
    assert np.all(variance > 1.2)  # the prior has 1
