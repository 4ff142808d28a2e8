"""The component that no row has joined yet: integrated, not drawn."""

import math

import numpy as np
import pytest

from bayesmargin import DPMNLClassifier
from bayesmargin.foundation.compiling import from_python
from bayesmargin.models.dpmnl.fresh import fresh_log_density
from bayesmargin.models.dpmnl.state import NARROWEST, Hyper, empty_experts
from bayesmargin.models.dpmnl.state import draw_base as compiled_draw_base

from .densities import integrated

draw_base = from_python(compiled_draw_base)

pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")


def _hyper(rng, features):
    parts = rng.standard_normal((4, features))
    return Hyper(
        2.0 * parts[0], parts[1], parts[2], parts[3], np.zeros(1), np.full(features, NARROWEST)
    )


@pytest.mark.parametrize("seed", range(3))
def test_density_against_integration(seed):
    rng = np.random.default_rng(seed)
    hyper = _hyper(rng, 2)
    X = np.array([[0.0, 0.0], [1.0, -2.0], [8.0, 30.0], [0.3, 200.0]])
    found = np.empty(4)
    fresh_log_density(hyper, X, found)
    for row, value in zip(X, found, strict=True):
        parts = [integrated(x, *(part[j] for part in hyper[:4])) for j, x in enumerate(row)]
        assert value == pytest.approx(np.log(parts).sum(), rel=1e-6)


@pytest.mark.parametrize("least", [-3.0, -0.5, 1.5])
def test_density_with_a_bound_that_is_felt(least):
    hyper = _hyper(np.random.default_rng(1), 2)._replace(narrowest=np.full(2, least))
    X = np.array([[0.0, 0.0], [1.0, -2.0], [8.0, 30.0]])
    found = np.empty(3)
    fresh_log_density(hyper, X, found)
    for row, value in zip(X, found, strict=True):
        parts = [integrated(x, *(p[j] for p in hyper[:4]), least) for j, x in enumerate(row)]
        assert value == pytest.approx(np.log(parts).sum(), abs=0.02)


@pytest.mark.parametrize("level_spread", [-np.inf, -2.0, 3.0])
@pytest.mark.parametrize("spread", [-18.0, 1.0])
def test_many_rows_have_the_densities_of_single_ones(spread, level_spread):
    """Those of many rows are read from a table, of a few and of outliers they are summed."""
    rng = np.random.default_rng(5)
    bound = np.array([NARROWEST, -1.0])
    parts = (np.array([0.3, -2.0]), np.full(2, spread), rng.standard_normal(2))
    hyper = Hyper(*parts, np.full(2, level_spread), np.zeros(1), bound)
    wide = np.exp(rng.uniform(-9.0, 9.0, (4000, 2))) * rng.choice([-1.0, 1.0], (4000, 2))
    X = np.concatenate([rng.standard_normal((4000, 2)), wide, [[0.3, -2.0], [1e99, -1e60]]])
    found, single = np.empty(len(X)), np.empty(1)
    fresh_log_density(hyper, X, found)
    chosen = [*range(0, len(X), 97), *range(len(X) - 3, len(X))]
    for d in chosen:
        fresh_log_density(hyper, X[d : d + 1], single)
        assert found[d] == pytest.approx(single[0], rel=1e-9, abs=1e-9)


def test_density_against_draws_of_the_base_measure():
    rng = np.random.default_rng(3)
    hyper, experts, X = _hyper(rng, 2), empty_experts(1, 2, 2), np.array([[0.5, -0.5]])
    values = np.empty(5_000)
    for i in range(len(values)):
        draw_base(rng, hyper, experts, 0)
        spread = np.exp(0.5 * experts.log_variance[0])
        square = (((X[0] - experts.mean[0]) / spread) ** 2).sum()
        values[i] = math.exp(-0.5 * square) / (2.0 * math.pi * spread.prod())
    found = np.empty(1)
    fresh_log_density(hyper, X, found)
    assert abs(values.mean() - math.exp(found[0])) < 4.0 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize("seed", range(4))
def test_far_from_all_rows_no_class_is_preferred(seed):
    """One draw of a component to come, of 25, used to answer there with a probability near one."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(-2, 1, (60, 2)), rng.normal(2, 1, (60, 2))])
    y = np.repeat(["a", "b"], 60)
    model = DPMNLClassifier(n_sweeps=40, random_state=seed).fit(X, y)
    assert model.score(X, y) > 0.95
    far = np.array([[300.0, 300.0], [-300.0, 50.0], [0.0, -1e3]])
    np.testing.assert_allclose(model.predict_proba(far), 0.5, atol=0.01)


def test_rows_beyond_all_densities():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) * [1.0, 1e-90]
    model = DPMNLClassifier(n_sweeps=10, random_state=0).fit(X, X[:, 0] > 0)
    chances = model.predict_proba([[0.0, 1e99], [1e99, -1e99], [1.0, 0.0]])
    np.testing.assert_allclose(chances[:2], 0.5)
    assert np.isfinite(chances).all()
