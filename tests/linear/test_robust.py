"""Draws moved and stretched so that their intervals cover."""

import numpy as np
import pytest
from scipy.special import expit

import bayesmargin
from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor
from bayesmargin.errors import CoverageWarning
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import prior_belief
from bayesmargin.rows.source import DenseSource
from bayesmargin.targets.problem import Problem
from bayesmargin.uncertainty.adjustment import Adjustment, stretch_between
from bayesmargin.uncertainty.sandwich import sandwich

SLOPES = np.array([1.0, -0.5])


def rows(rng, count):
    X = rng.standard_normal((count, 2))
    return X, (rng.random(count) < expit(2.0 * (X @ SLOPES) + 0.5)).astype(np.int8)


def law(X, y, C, n_classes=2, groups=None):
    size = (X.shape[1] + 1) * (1 if n_classes == 2 else n_classes)
    ones = np.ones(len(y))
    problem = Problem(
        DenseSource(X, True), y, n_classes, C * ones, 1.0, prior_belief("gaussian", 10.0, size)
    )
    anchor = fit_anchor(problem, np.random.default_rng(0))
    return sandwich(problem, ones, anchor, groups=groups)


@pytest.fixture(scope="module")
def model():
    X, y = rows(np.random.default_rng(0), 300)
    return BayesianLinearSVC(C=0.3, prior_scale=10.0, n_draws=300, random_state=0).fit(X, y)


def test_robust_draws_have_centre_and_covariance_of_the_minimiser(model):
    sampled, robust = model.posterior_, model.posterior_.robust()
    joint = np.column_stack([robust.flat("coef"), robust.flat("intercept")])
    before = np.column_stack([sampled.flat("coef"), sampled.flat("intercept")])
    adjustment = sampled.adjustment
    np.testing.assert_allclose(joint.mean(axis=0), adjustment.centre, atol=1e-10)
    wanted = adjustment.stretch @ np.cov(before.T) @ adjustment.stretch.T
    np.testing.assert_allclose(np.cov(joint.T), wanted)
    X, y = rows(np.random.default_rng(0), 300)
    found = law(X, y, C=0.3)
    spread = np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(adjustment.centre, found.centre, atol=0.03 * spread.min())
    np.testing.assert_allclose(wanted, found.covariance, atol=0.1 * spread.min() ** 2)


def test_the_law_of_the_minimiser_does_not_hang_on_the_cost():
    X, y = rows(np.random.default_rng(1), 400)
    narrow, wide = law(X, y, 10.0), law(X, y, 0.1)
    spread = np.sqrt(np.diag(narrow.covariance))
    np.testing.assert_allclose(np.sqrt(np.diag(wide.covariance)), spread, rtol=0.05)
    np.testing.assert_allclose(wide.centre, narrow.centre, atol=0.1 * spread.min())


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_intervals_cover_what_infinitely_many_rows_would_give(C):
    """Coverage over samples within three of its Monte Carlo errors of what is promised.

    Unadjusted intervals are far off at both costs.
    """
    truth = law(*rows(np.random.default_rng(99), 100_000), 1.0).centre
    rng, repeats = np.random.default_rng(2), 150
    z = []
    for _ in range(repeats):
        found = law(*rows(rng, 400), C)
        z.append((found.centre - truth) / np.sqrt(np.diag(found.covariance)))
    covered = (np.abs(z) < 1.645).mean(axis=0)
    np.testing.assert_allclose(covered, 0.9, atol=3.0 * np.sqrt(0.9 * 0.1 / repeats))


def test_rows_that_come_in_groups_tell_less():
    X, y = rows(np.random.default_rng(3), 250)
    once = law(X, y, 1.0)
    many, labels, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(250), 4)
    naive, honest = law(many, labels, 1.0), law(many, labels, 1.0, groups=groups)
    width = [np.sqrt(np.diag(one.covariance)) for one in (once, naive, honest)]
    np.testing.assert_allclose(width[1] / width[0], 0.5, rtol=0.15)
    np.testing.assert_allclose(width[2] / width[0], 1.0, rtol=0.15)


def test_groups_that_share_a_part_of_their_noise_spread_as_over_samples():
    rng, found = np.random.default_rng(13), []
    groups = np.repeat(np.arange(80), 5)
    for _ in range(80):
        X = rng.standard_normal((80, 2))[groups] + rng.standard_normal((400, 2))
        noise = rng.standard_normal(80)[groups] + rng.standard_normal(400)
        y = (X @ SLOPES + noise > 0.0).astype(np.int8)
        found.append(law(X, y, 1.0, groups=groups))
    seen = np.var([one.centre for one in found], axis=0, ddof=1).sum()
    expected = np.mean([np.trace(one.covariance) for one in found])
    assert 0.75 < seen / expected < 1.3  # its standard error is about 0.1


def test_contrasts_of_three_classes_spread_as_over_samples():
    rng = np.random.default_rng(4)
    scores = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])

    def drawn(count):
        X = rng.standard_normal((count, 2))
        return X, (X @ scores.T + rng.gumbel(size=(count, 3))).argmax(axis=1).astype(np.int8)

    contrast = np.kron(np.eye(3) - 1.0 / 3.0, np.eye(3))
    found = [law(*drawn(400), 0.5, n_classes=3) for _ in range(40)]
    expected = contrast @ np.mean([one.covariance for one in found], axis=0) @ contrast.T
    seen = np.cov((np.array([one.centre for one in found]) @ contrast.T).T)
    ratio = np.trace(seen) / np.trace(expected)
    assert 0.75 < ratio < 1.35  # its standard error is about 0.1


def test_one_against_the_rest_is_adjusted_class_by_class():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 2))
    directions = np.array([[2.0, -1.0, -1.0], [0.0, 2.0, -2.0]])
    y = (X @ directions + rng.gumbel(size=(300, 3))).argmax(axis=1)
    model = BayesianLinearSVC(multi_class="ovr", n_draws=200, random_state=0).fit(X, y)
    assert model.posterior_.adjustment.form == "blocks"
    robust = model.posterior_.robust()
    alone = BayesianLinearSVC(n_draws=200, random_state=0).fit(X, y == 1).posterior_.robust()
    spread = alone["coef"].std(axis=(0, 1))
    np.testing.assert_allclose(robust["coef"][:, :, 1].std(axis=(0, 1)), spread, rtol=0.03)
    centre = alone["coef"].mean(axis=(0, 1))
    np.testing.assert_allclose(robust["coef"].mean(axis=(0, 1))[1], centre, atol=0.05 * spread[0])


def test_tables_and_arviz_say_which_intervals_they_show(model):
    sampled, robust = model.posterior_, model.posterior_.robust()
    for posterior, kind in ((sampled, "as sampled"), (robust, "robust")):
        table = posterior.summary()
        assert table.columns.name == table.attrs["intervals"] == kind
        assert posterior.to_arviz().posterior.attrs["intervals"] == kind
    assert "(robust)" in repr(robust)
    assert robust.robust() is robust
    share = (robust.flat("coef") > 0.0).mean(axis=0)
    np.testing.assert_allclose(robust.summary()["p_direction"][:2], np.maximum(share, 1.0 - share))


def test_the_adjustment_is_saved_with_the_model(model, tmp_path):
    model.save(tmp_path / "model")
    robust = bayesmargin.load(tmp_path / "model").posterior_.robust()
    np.testing.assert_array_equal(robust["coef"], model.posterior_.robust()["coef"])


def test_separable_classes_are_told_to_have_no_intervals_that_cover():
    X = np.random.default_rng(6).standard_normal((60, 2))
    model = BayesianLinearSVC(n_draws=100, random_state=0).fit(X * 5.0, X[:, 0] > 0.0)
    with pytest.warns(CoverageWarning, match="separable or nearly so"):
        model.posterior_.robust()


def test_a_class_that_nothing_tells_apart_has_no_smooth_minimum():
    """All rows of the others lie on the margin: the best that a hinge can do is a constant."""
    X = np.random.default_rng(9).standard_normal((200, 2))
    y = np.arange(200) % 8 == 0
    model = BayesianLinearSVC(n_draws=100, random_state=0).fit(X, y)
    with pytest.warns(CoverageWarning, match="no smooth neighbourhood"):
        model.posterior_.robust()


def test_a_posterior_without_an_adjustment_says_so():
    posterior = Posterior({"coef": np.zeros((1, 2, 1))}, {"coef": ("feature",)}, {}, {})
    with pytest.raises(ValueError, match="there is no adjustment for this posterior"):
        posterior.robust()


def test_blocks_and_diagonals_are_maps_like_the_matrix():
    rng = np.random.default_rng(7)
    blocks = rng.standard_normal((2, 3, 3))
    whole = np.zeros((6, 6))
    whole[:3, :3], whole[3:, 3:] = blocks
    mean, centre, draws = rng.standard_normal((3, 6)), rng.standard_normal(6), None
    draws = rng.standard_normal((5, 6))
    full = Adjustment(mean[0], centre, whole).applied(draws)
    np.testing.assert_allclose(Adjustment(mean[0], centre, blocks).applied(draws), full)
    scale = rng.random(6)
    full = Adjustment(mean[0], centre, np.diag(scale)).applied(draws)
    np.testing.assert_allclose(Adjustment(mean[0], centre, scale).applied(draws), full)


def test_nothing_is_stretched_that_is_as_wide_as_it_should_be():
    part = np.random.default_rng(8).standard_normal((4, 4))
    covariance = part @ part.T + np.eye(4)
    np.testing.assert_allclose(stretch_between(covariance, covariance), np.eye(4), atol=1e-10)


def test_parts_of_the_rows_hand_on_how_well_they_know():
    X, y = rows(np.random.default_rng(10), 600)
    whole = BayesianLinearSVC(prior_scale=10.0, n_draws=400, random_state=0).fit(X, y)
    parts = BayesianLinearSVC(prior_scale=10.0, n_draws=400, random_state=0)
    for start in (0, 300):
        parts.partial_fit(X[start : start + 300], y[start : start + 300], classes=[0, 1])
    wanted, found = (m.posterior_.robust()["coef"] for m in (whole, parts))
    spread = wanted.std(axis=(0, 1))
    np.testing.assert_allclose(found.std(axis=(0, 1)), spread, rtol=0.15)
    shift = found.mean(axis=(0, 1)) - wanted.mean(axis=(0, 1))
    assert (np.abs(shift) < 0.5 * spread).all()


def test_groups_of_the_fit_widen_robust_intervals_alone():
    X, y = rows(np.random.default_rng(11), 200)
    many, labels, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(200), 3)
    many = many + 1e-9 * np.arange(600)[:, None]  # no row equals another
    once = BayesianLinearSVC(n_draws=200, random_state=0).fit(X, y)
    plain = BayesianLinearSVC(n_draws=200, random_state=0).fit(many, labels)
    grouped = BayesianLinearSVC(n_draws=200, random_state=0)
    grouped.fit(many, labels, groups=[f"patient {g}" for g in groups])
    models = (once, plain, grouped)
    robust = [m.posterior_.robust()["coef"].std(axis=(0, 1)) for m in models]
    np.testing.assert_allclose(robust[2], robust[0], rtol=0.2)
    assert (robust[1] < 0.7 * robust[0]).all()
    sampled = [m.posterior_["coef"].std(axis=(0, 1)) for m in models]
    np.testing.assert_allclose(sampled[2], sampled[1], rtol=0.15)


def test_groups_that_say_nothing_are_refused():
    X, y = rows(np.random.default_rng(12), 20)
    with pytest.raises(ValueError, match=r"groups has the shape \(3,\), but X has 20 rows"):
        BayesianLinearSVC().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="groups holds one group only"):
        BayesianLinearSVC().fit(X, y, groups=np.zeros(20))
