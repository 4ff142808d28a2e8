"""Collapsed Gaussians: densities, leave-one-out, rank-1 changes and the bounds on radii."""

import numpy as np
import pytest
from enumeration import log_gaussian
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesmargin.foundation.compiling import from_python
from bayesmargin.models.infinite_svc import features as generic
from bayesmargin.models.infinite_svc import gaussian, marginal
from bayesmargin.models.infinite_svc.gaussian import reset_to_prior
from bayesmargin.models.infinite_svc.preparation import make_base
from bayesmargin.models.infinite_svc.state import empty_components, feature_count

change_member = from_python(gaussian.change_member)
copy_empty = from_python(gaussian.copy_empty)
fill_features = from_python(generic.fill_features)
log_growth = from_python(generic.log_growth)
log_marginal = from_python(marginal.log_marginal)
log_predictive = from_python(gaussian.log_predictive)
log_share = from_python(gaussian.log_share)
log_share_of_member = from_python(gaussian.log_share_of_member)
refactor = from_python(gaussian.refactor)
surely_below = from_python(gaussian.surely_below)
SIZE = 4


def _base(diagonal, rows=200, size=SIZE):
    rng = np.random.default_rng(7)
    root = rng.normal(size=(size, size))
    scatter = root @ root.T + np.eye(size)
    if diagonal:
        scatter = np.diag(np.diag(scatter))
    degrees = (1 if diagonal else size) + 1.5
    return make_base(rng.normal(size=size), 0.3, degrees, scatter, 1.0, rows, diagonal)


@pytest.fixture(params=[False, True], ids=["full", "diag"])
def base(request):
    return _base(request.param)


def _empty(base):
    return empty_components(1, len(base.location), 1, 1, base.diagonal)


def _filled(X, base):
    components = _empty(base)
    reset_to_prior(components, base, 0)
    for row in X:
        change_member(components, base, 0, row, _features(row, base), 1.0)
    return components


def _features(row, base):
    features = np.empty(feature_count(len(row), base.diagonal))
    fill_features(base, row, features)
    return features


def test_predictive_is_a_ratio_of_marginal_likelihoods(base):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(9, SIZE)), rng.normal(size=SIZE)
    components = _filled(X, base)
    value = log_predictive(components, base, 0, _features(new, base))
    expected = log_gaussian(np.vstack([X, new]), base) - log_gaussian(X, base)
    assert value == pytest.approx(expected, abs=1e-10)
    empty = np.linalg.slogdet(base.scatter)[1]
    assert log_marginal(components, base, 0, empty) == pytest.approx(
        log_gaussian(X, base), abs=1e-9
    )


def test_member_judged_as_if_absent(base):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, SIZE))
    with_all, without = _filled(X, base), _filled(X[:-1], base)
    features = _features(X[-1], base)
    share = log_share_of_member(with_all, base, 0, features)
    assert share - np.log(5) == pytest.approx(log_predictive(without, base, 0, features), abs=1e-10)


def test_a_copied_empty_component_takes_its_first_member_like_a_computed_one(base):
    row = np.random.default_rng(4).normal(size=SIZE)
    empty, computed, copied = (_empty(base) for _ in range(3))
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
        change_member(components, base, 0, row, _features(row, base), 1.0)
    for one, other in zip(computed, copied, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ten_thousand_round_trips_leave_no_trace(base):
    rng = np.random.default_rng(2)
    components = _filled(rng.normal(size=(12, SIZE)), base)
    before = [components.inverse.copy(), components.form.copy(), components.log_determinant.copy()]
    for row in 3 * rng.normal(size=(10_000, SIZE)):
        features = _features(row, base)
        change_member(components, base, 0, row, features, 1.0)
        change_member(components, base, 0, row, features, -1.0)
    for old, new in zip(
        before, [components.inverse, components.form, components.log_determinant], strict=True
    ):
        np.testing.assert_allclose(new, old, atol=1e-8)


@pytest.mark.parametrize("diagonal", [False, True], ids=["full", "diag"])
@pytest.mark.parametrize("kind", ["duplicates", "constant", "outlier", "more columns than rows"])
def test_degenerate_members_keep_the_factorisation(kind, diagonal):
    rng = np.random.default_rng(3)
    size = 30 if kind == "more columns than rows" else SIZE
    base = make_base(np.zeros(size), 0.1, size + 2.0, 0.1 * np.eye(size), 1.0, 200, diagonal)
    X = rng.normal(size=(20, size))
    if kind == "duplicates":
        X[:] = X[0]
    elif kind == "constant":
        X[:, 1] = 0.0
    elif kind == "outlier":
        X[-1] = 1e4
    components = _filled(X, base)
    for row in X[5:][::-1]:
        change_member(components, base, 0, row, _features(row, base), -1.0)
    fresh = _filled(X[:5], base)
    np.testing.assert_allclose(components.inverse, fresh.inverse, rtol=1e-5, atol=1e-7)
    features = _features(X[0], base)
    value = log_predictive(components, base, 0, features)
    assert value == pytest.approx(log_predictive(fresh, base, 0, features), rel=1e-5)
    refactor(components, base, 0)
    assert np.isfinite(components.form).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.2, 6.0), st.booleans())
def test_kept_radii_bound_those_after_any_changes(seed, spread, diagonal):
    rng = np.random.default_rng(seed)
    base = _base(diagonal)
    X = rng.normal(size=(15, SIZE))
    components = _filled(X, base)
    probe = _features(spread * rng.normal(size=SIZE), base)
    components.shrink[0] = (1.0, 0.0)
    then = np.sqrt(log_growth(base, components.form, 0, probe, 1.0)[0])
    members = list(X)
    for row in spread * rng.normal(size=(20, SIZE)):
        change_member(components, base, 0, row, _features(row, base), 1.0)
        members.append(row)
        gone = members.pop(rng.integers(len(members)))
        change_member(components, base, 0, gone, _features(gone, base), -1.0)
        now = np.sqrt(log_growth(base, components.form, 0, probe, 1.0)[0])
        bound = components.shrink[0, 0] * then - components.shrink[0, 1]
        assert now >= bound - 1e-9


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 7.0), st.floats(-30.0, 5.0), st.booleans())
def test_dismissal_is_never_wrong(seed, spread, floor, diagonal):
    base, rng = _base(diagonal), np.random.default_rng(seed)
    components = _filled(rng.normal(size=(8, SIZE)), base)
    factor = 8.3 / 9.3
    square, growth = log_growth(
        base, components.form, 0, _features(spread * rng.normal(size=SIZE), base), factor
    )
    assert growth >= np.log1p(factor * square) - 1e-12
    arguments = (components.height[0], components.population[0], base.strength, base.degrees)
    if surely_below(floor, *arguments, square):
        assert log_share(components, base, 0, growth) < floor


@pytest.mark.parametrize("size", [3, 64, 1000])
@pytest.mark.parametrize("distance", [1.0, 1e6, 1e200])
def test_densities_of_many_independent_columns_neither_overflow_nor_vanish(size, distance):
    rng = np.random.default_rng(6)
    base = _base(True, size=size)
    components = _filled(rng.normal(size=(5, size)), base)
    row = distance * rng.normal(size=size)
    _, growth = log_growth(base, components.form, 0, _features(row, base), 5.3 / 6.3)
    inverse, centre = components.inverse[0, 0], components.centre[0]
    with np.errstate(over="ignore"):
        factors = 1.0 + 5.3 / 6.3 * inverse * (row - centre) ** 2
    assert growth == pytest.approx(np.log(np.minimum(factors, 1e20)).sum(), rel=1e-10)
