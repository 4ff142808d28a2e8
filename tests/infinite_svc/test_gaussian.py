"""Collapsed Gaussians: densities, leave-one-out, rank-1 changes and the bounds on radii."""

import numpy as np
import pytest
from enumeration import log_niw
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesmargin.compiling import from_python
from bayesmargin.models.infinite_svc import gaussian, marginal
from bayesmargin.models.infinite_svc.gaussian import reset_to_prior
from bayesmargin.models.infinite_svc.preparation import make_base
from bayesmargin.models.infinite_svc.state import empty_components

change_member = from_python(gaussian.change_member)
copy_empty = from_python(gaussian.copy_empty)
fill_features = from_python(gaussian.fill_features)
log_marginal = from_python(marginal.log_marginal)
log_predictive = from_python(gaussian.log_predictive)
log_predictive_without = from_python(gaussian.log_predictive_without)
log_share = from_python(gaussian.log_share)
refactor = from_python(gaussian.refactor)
surely_below = from_python(gaussian.surely_below)
SIZE = 4


def _base(rows=200, size=SIZE):
    rng = np.random.default_rng(7)
    root = rng.normal(size=(size, size))
    scatter = root @ root.T + np.eye(size)
    return make_base(rng.normal(size=size), 0.3, size + 1.5, scatter, 1.0, rows)


def _filled(X, base):
    components = empty_components(1, X.shape[1], 1, 1)
    reset_to_prior(components, base, 0)
    for row in X:
        change_member(components, base, 0, row, _features(row), 1.0)
    return components


def _features(row):
    features = np.empty(len(row) * (len(row) + 3) // 2 + 1)
    fill_features(row, features)
    return features


def test_predictive_is_a_ratio_of_marginal_likelihoods():
    rng = np.random.default_rng(0)
    base = _base()
    prior = (base.location, base.strength, base.degrees, base.scatter)
    X, new = rng.normal(size=(9, SIZE)), rng.normal(size=SIZE)
    components = _filled(X, base)
    expected = log_niw(np.vstack([X, new]), *prior) - log_niw(X, *prior)
    assert log_predictive(components, base, 0, _features(new)) == pytest.approx(expected, abs=1e-10)
    empty = np.linalg.slogdet(base.scatter)[1]
    assert log_marginal(components, base, 0, empty) == pytest.approx(log_niw(X, *prior), abs=1e-9)


def test_member_judged_as_if_absent():
    rng = np.random.default_rng(1)
    base = _base()
    X = rng.normal(size=(6, SIZE))
    with_all, without = _filled(X, base), _filled(X[:-1], base)
    features = _features(X[-1])
    assert log_predictive_without(with_all, base, 0, features) == pytest.approx(
        log_predictive(without, base, 0, features), abs=1e-10
    )


def test_a_copied_empty_component_takes_its_first_member_like_a_computed_one():
    base, row = _base(), np.random.default_rng(4).normal(size=SIZE)
    empty, computed, copied = (empty_components(1, SIZE, 1, 1) for _ in range(3))
    for components in (empty, computed):
        reset_to_prior(components, base, 0)
    used = _filled(np.random.default_rng(5).normal(size=(3, SIZE)), base)  # by somebody before
    for name in ("moment", "inverse", "centre", "form", "population", "log_determinant"):
        getattr(copied, name)[:] = getattr(used, name)
    template = gaussian.Empty(
        empty.inverse[0], empty.centre[0], empty.form[0], empty.log_determinant[0]
    )
    copy_empty(template, copied, 0)
    copied.shrink[0] = (1.0, 0.0)  # as forget_radii leaves it
    for components in (computed, copied):
        change_member(components, base, 0, row, _features(row), 1.0)
    for one, other in zip(computed, copied, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ten_thousand_round_trips_leave_no_trace():
    rng = np.random.default_rng(2)
    base = _base()
    components = _filled(rng.normal(size=(12, SIZE)), base)
    before = [components.inverse.copy(), components.form.copy(), components.log_determinant.copy()]
    for row in 3 * rng.normal(size=(10_000, SIZE)):
        features = _features(row)
        change_member(components, base, 0, row, features, 1.0)
        change_member(components, base, 0, row, features, -1.0)
    for old, new in zip(
        before, [components.inverse, components.form, components.log_determinant], strict=True
    ):
        np.testing.assert_allclose(new, old, atol=1e-8)


@pytest.mark.parametrize("kind", ["duplicates", "constant", "outlier", "more columns than rows"])
def test_degenerate_members_keep_the_factorisation(kind):
    rng = np.random.default_rng(3)
    size = 30 if kind == "more columns than rows" else SIZE
    base = make_base(np.zeros(size), 0.1, size + 2.0, 0.1 * np.eye(size), 1.0, 200)
    X = rng.normal(size=(20, size))
    if kind == "duplicates":
        X[:] = X[0]
    elif kind == "constant":
        X[:, 1] = 0.0
    elif kind == "outlier":
        X[-1] = 1e4
    components = _filled(X, base)
    for row in X[5:][::-1]:
        change_member(components, base, 0, row, _features(row), -1.0)
    fresh = _filled(X[:5], base)
    np.testing.assert_allclose(components.inverse, fresh.inverse, rtol=1e-5, atol=1e-7)
    value = log_predictive(components, base, 0, _features(X[0]))
    assert value == pytest.approx(log_predictive(fresh, base, 0, _features(X[0])), rel=1e-5)
    refactor(components, base, 0)
    assert np.isfinite(components.form).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.2, 6.0))
def test_kept_radii_bound_those_after_any_changes(seed, spread):
    rng = np.random.default_rng(seed)
    base = _base()
    X = rng.normal(size=(15, SIZE))
    components = _filled(X, base)
    probe = _features(spread * rng.normal(size=SIZE))
    components.shrink[0] = (1.0, 0.0)
    then = np.sqrt(max(0.0, components.form[0] @ probe))
    members = list(X)
    for row in spread * rng.normal(size=(20, SIZE)):
        change_member(components, base, 0, row, _features(row), 1.0)
        members.append(row)
        gone = members.pop(rng.integers(len(members)))
        change_member(components, base, 0, gone, _features(gone), -1.0)
        now = np.sqrt(max(0.0, components.form[0] @ probe))
        bound = components.shrink[0, 0] * then - components.shrink[0, 1]
        assert now >= bound - 1e-9


@settings(max_examples=100, deadline=None)
@given(st.floats(0.0, 50.0), st.floats(-30.0, 5.0))
def test_dismissal_is_never_wrong(square, floor):
    base = _base()
    components = _filled(np.random.default_rng(5).normal(size=(8, SIZE)), base)
    arguments = (components.height[0], components.population[0], base.strength, base.degrees)
    if surely_below(floor, *arguments, square):
        assert log_share(components, base, 0, square) < floor
