"""Every exact sampler against integration: two classes, three classes, Laplace prior."""

from functools import cache

import numpy as np
import pytest

from bayesmargin.samplers import AugmentationGibbs, AusterityMetropolis, LangevinMC, SubgradientHMC
from bayesmargin.validation import moment_scores, quadrature
from bayesmargin.validation.problems import five_rows, one_kink, small_problem, three_classes

PROBLEMS = {
    "one_kink": one_kink,
    "five_rows": five_rows,
    "three_classes": three_classes,
    "laplace": lambda: five_rows("laplace"),
}
SAMPLERS = {
    "hmc": (SubgradientHMC(), 200_000, 1),
    "hmc_diagonal": (SubgradientHMC(mass="diagonal"), 100_000, 1),
    "hmc_dense": (SubgradientHMC(mass="dense"), 100_000, 1),
    "hmc_identity": (SubgradientHMC(mass="identity"), 100_000, 1),
    "lmc": (LangevinMC(), 200_000, 2),
    "gibbs": (AugmentationGibbs(), 100_000, 1),
    "gibbs_single": (AugmentationGibbs(arithmetic="single"), 100_000, 1),
    "gibbs_coordinate": (AugmentationGibbs(form="coordinate"), 100_000, 1),
    "gibbs_wide": (AugmentationGibbs(form="wide"), 4_000, 1),
    "srwm": (AusterityMetropolis(epsilon=0.0), 80_000, 6),
}


@cache
def reference(name):
    return quadrature(PROBLEMS[name]())


VARIANTS = ("hmc_diagonal", "hmc_dense", "hmc_identity", "gibbs_single", "gibbs_wide")


def cases():
    """All pairs with a quarter of the draws, variants on one problem alone (each compiles).

    The slow suite has them all, with all draws.
    """
    for sampler in SAMPLERS:
        for problem in PROBLEMS:
            late = sampler in VARIANTS and problem != "five_rows"
            if not late:
                yield pytest.param(sampler, problem, 0.25, id=f"{sampler}-{problem}")
            name = f"{sampler}-{problem}-all"
            yield pytest.param(sampler, problem, 1.0, id=name, marks=pytest.mark.slow)


@pytest.mark.parametrize(("sampler", "problem", "share"), list(cases()))
def test_moments_agree_with_quadrature(sampler, problem, share, draw):
    settings, n_draws, thin = SAMPLERS[sampler]
    truth = reference(problem)
    draws = draw(settings, PROBLEMS[problem](), int(share * n_draws), seed=11, thin=thin)
    scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.0, scores


def test_quadrature_reproduces_the_published_fixtures():
    line, plane, space = reference("one_kink"), reference("five_rows"), reference("three_classes")
    assert line.log_integral == pytest.approx(-0.4257753, abs=1e-7)
    assert line.mean[0] == pytest.approx(1.1736773, abs=1e-7)
    assert line.second[0, 0] == pytest.approx(1.7356427, abs=1e-7)
    below = float(line.probability[line.points[:, 0] < 1.0].sum())
    assert below == pytest.approx(0.3912258, abs=1e-7)
    assert plane.mean == pytest.approx([0.489688, -0.833413], abs=1e-5)
    assert np.diag(plane.second) == pytest.approx([0.597300, 1.131521], abs=1e-5)
    assert plane.second[0, 1] == pytest.approx(-0.432725, abs=1e-5)
    assert plane.log_integral == pytest.approx(-2.756131, abs=2e-5)
    assert space.mean == pytest.approx([0.3594, -0.7824, 0.4230], abs=5e-4)
    assert np.diag(space.second) == pytest.approx([0.6689, 1.2317, 0.7092], abs=5e-4)


def test_full_prior_precision(draw):
    """A prior that couples the weights, and all three classes, through every joint form."""
    from dataclasses import replace

    from bayesmargin.priors.moments import GaussianBelief

    precision = np.array([[2.0, 0.7, 0.1], [0.7, 1.0, -0.3], [0.1, -0.3, 1.5]])
    prior = GaussianBelief(np.array([0.3, -0.2, 0.1]), precision)
    problem = replace(three_classes(), prior=prior)
    truth = quadrature(problem)
    for form in ("joint", "coordinate"):
        draws = draw(AugmentationGibbs(form=form), problem, 20_000, seed=3)
        scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
        assert np.abs(scores).max() < 4.0, (form, scores)


def test_unequal_costs_and_zero_rows(draw):
    """Sample weights enter as costs; a row of cost zero or of zeros changes nothing."""
    from dataclasses import replace

    base = five_rows()
    cost = np.array([0.5, 2.0, 0.0, 1.0, 3.0])
    problem = replace(base, cost=cost)
    truth = quadrature(problem)
    for sampler in (AugmentationGibbs(), SubgradientHMC()):
        draws = draw(sampler, problem, 20_000, seed=4)
        scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
        assert np.abs(scores).max() < 4.0, scores


def test_wide_and_joint_forms_agree_with_more_columns_than_rows(draw):
    from bayesmargin.validation import agreement

    rng = np.random.default_rng(0)
    problem = small_problem(rng.standard_normal((12, 30)), rng.integers(0, 2, 12))
    assert AugmentationGibbs().chosen_form(problem) == "wide"
    wide = draw(AugmentationGibbs(), problem, 3_000)
    joint = draw(AugmentationGibbs(form="joint"), problem, 20_000, seed=1)
    result = agreement(wide, joint)
    assert np.abs(result.mean_scores).max() < 4.5
    assert np.abs(result.variance_scores).max() < 4.5


def test_frozen_argmax_is_wrong_as_documented(draw):
    """The shortcut of the literature does not sample the posterior."""
    from bayesmargin.validation.problems import crowd

    problem = crowd()
    truth = quadrature(problem)
    scores = moment_scores(
        draw(AugmentationGibbs(legacy_frozen_argmax=True), problem, 2_000),
        truth.mean,
        np.diag(truth.covariance),
    )
    assert np.abs(scores).max() > 8.0
    right = moment_scores(
        draw(AugmentationGibbs(), problem, 40_000), truth.mean, np.diag(truth.covariance)
    )
    assert np.abs(right).max() < 4.0
