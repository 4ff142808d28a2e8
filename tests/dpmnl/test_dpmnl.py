"""dpMNL: Geweke's test of the whole sampler, the slice sampler, and the estimator."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import softmax
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from bayesmargin import InfiniteSVC
from bayesmargin.errors import DataError
from bayesmargin.foundation.compiling import from_python, jit
from bayesmargin.models.dpmnl import DPMNLClassifier
from bayesmargin.models.dpmnl.blocks import BLOCKS
from bayesmargin.models.dpmnl.chain import Chain, start_chain
from bayesmargin.models.dpmnl.parameters import slice_update
from bayesmargin.models.dpmnl.prediction import predict_draws, take_draw
from bayesmargin.models.dpmnl.state import NARROWEST, empty_experts, start_hyper
from bayesmargin.models.dpmnl.state import draw_base as compiled_draw_base
from bayesmargin.models.dpmnl.state import fill_log_classes as compiled_fill_log_classes
from bayesmargin.running.gibbs import sweep

from .densities import integrated

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")

draw_base = from_python(compiled_draw_base)
fill_log_classes = from_python(compiled_fill_log_classes)
SHAPES = [(3, 1, 2), (5, 2, 3)]  # rows, features, classes
ONE_FAST_SHAPE = [pytest.param(SHAPES[0], marks=pytest.mark.slow), SHAPES[1]]


@jit
def _slices(rng, start, a, b, n, s, out):
    v = start
    for t in range(out.shape[0]):
        v = slice_update(rng, 0, v, a, b, n, s)
        out[t] = v


def test_slice_sampler_against_quadrature():
    a, b, n, s = 0.4, 1.3, 5.0, 3.0
    draws = np.empty(100_000)
    _slices(np.random.default_rng(0), 0.0, a, b, n, s, draws)

    def density(v):
        return math.exp(-0.5 * ((v - a) / b) ** 2 - 0.5 * n * v - 0.5 * s * math.exp(-v))

    mass = integrate.quad(density, -15, 15)[0]
    for power in (1, 2):
        truth = integrate.quad(lambda v, p=power: v**p * density(v), -15, 15)[0] / mass
        means = (draws**power).reshape(50, -1).mean(axis=1)
        assert abs(means.mean() - truth) < 4.5 * means.std(ddof=1) / math.sqrt(50)


def _statistics(chain: Chain):
    """Bounded functions of everything that the sampler moves."""
    experts, hyper, slot = chain.experts, chain.hyper, chain.slots[0]
    return np.array(
        [
            experts.size[0],
            chain.slots[0] == chain.slots[1],
            math.tanh(hyper.log_concentration[0] / 4),
            *np.tanh(hyper.mean / 2),
            *np.tanh(hyper.log_spread / 2),
            *np.tanh(hyper.level),
            *np.tanh(hyper.log_level_spread / 2),
            *np.tanh(experts.mean[slot] / 3),
            *np.tanh(experts.log_variance[slot] / 3),
            *np.tanh(np.abs(experts.coefficients[slot])).ravel(),
            *np.tanh(experts.log_scale[slot]),
            *np.tanh(chain.X[0] / 3),
            math.tanh(experts.coefficients[slot, -1, 0] * chain.X[0, 0]),
            chain.labels[0] == chain.labels[1],
        ],
        dtype=float,
    )


def _draw_data(chain: Chain, rng):
    for d, slot in enumerate(chain.slots):
        spread = np.exp(0.5 * chain.experts.log_variance[slot])
        chain.X[d] = chain.experts.mean[slot] + spread * rng.standard_normal(chain.X.shape[1])
        work = np.empty(chain.experts.coefficients.shape[1])
        fill_log_classes(chain.experts.coefficients[slot], chain.X[d], work)
        below = np.cumsum(np.exp(work))[:-1]
        chain.labels[d] = np.searchsorted(below, rng.random())


def _prior_chain(rng, shape, least=NARROWEST):
    rows, features, classes = shape
    hyper = start_hyper(features, np.full(features, least))
    hyper.mean[:] = 2.0 * rng.standard_normal(features)
    for part in (hyper.log_spread, hyper.level, hyper.log_level_spread):
        part[:] = rng.standard_normal(features)
    hyper.log_concentration[:] = -3.0 + 2.0 * rng.standard_normal()
    strength = math.exp(hyper.log_concentration[0])
    slots: list[int] = []
    for _ in range(rows):
        weight = np.append(np.bincount(slots) if slots else [], strength).astype(float)
        slots.append(int(rng.choice(len(weight), p=weight / weight.sum())))
    experts = empty_experts(12, features, classes)
    experts.size[0] = max(slots) + 1
    for slot in range(max(slots) + 1):
        draw_base(rng, hyper, experts, slot)
        experts.population[slot] = slots.count(slot)
    X, labels = np.zeros((rows, features)), np.zeros(rows, np.int64)
    chain = Chain(rng, X, labels, np.array(slots), experts, hyper, 0.5, 5, 3)
    _draw_data(chain, rng)
    return chain


def _geweke(number, shape, proposals=0, least=NARROWEST, seed=4):
    rng = np.random.default_rng(seed)
    exact = np.array([_statistics(_prior_chain(rng, shape, least)) for _ in range(number // 2)])
    chain, values = _prior_chain(rng, shape, least), []
    chain.proposals = proposals
    for _ in range(number):
        sweep(BLOCKS, chain)
        _draw_data(chain, rng)
        values.append(_statistics(chain))
    draws = np.array(values)
    means = draws.reshape(50, -1, draws.shape[1]).mean(axis=1)
    error = np.sqrt(means.var(axis=0, ddof=1) / 50 + exact.var(axis=0) / len(exact))
    return (draws.mean(axis=0) - exact.mean(axis=0)) / error


@pytest.mark.parametrize("shape", ONE_FAST_SHAPE)
def test_sampler_leaves_the_joint_invariant(shape):
    assert np.all(np.abs(_geweke(8_000, shape)) < 4.0)


@pytest.mark.parametrize("shape", ONE_FAST_SHAPE)
def test_splits_and_merges_leave_the_joint_invariant(shape):
    """With a bound on widths that is felt, so that its share of the prior counts."""
    assert np.all(np.abs(_geweke(8_000, shape, proposals=2, least=-0.5)) < 4.0)


@pytest.mark.slow
@pytest.mark.parametrize(("proposals", "least"), [(0, NARROWEST), (2, NARROWEST), (2, -0.5)])
@pytest.mark.parametrize("shape", SHAPES)
def test_sampler_leaves_the_joint_invariant_at_length(shape, proposals, least):
    assert np.all(np.abs(_geweke(200_000, shape, proposals, least)) < 4.0)


def test_predictions_are_the_ratio_of_mixed_densities():
    """Every component of every draw, the fresh one included, written out with SciPy."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    chain, draws = start_chain(rng, X, y, np.arange(60) % 4, 3, 0.2, 10, 5), []
    for _ in range(5):
        sweep(BLOCKS, chain)
        draws.append(take_draw(chain))
    new, joint = 2.0 * rng.normal(size=(7, 3)), np.zeros((7, 3))
    for draw in draws:
        *weights, fresh = np.exp(draw.log_weight)
        np.testing.assert_allclose(sum(weights) + fresh, 1.0)
        for k, weight in enumerate(weights):
            spread = np.exp(0.5 * draw.experts.log_variance[k])
            density = stats.norm.pdf(new, draw.experts.mean[k], spread).prod(axis=1)
            slopes = draw.experts.coefficients[k]
            chances = softmax(new @ slopes[:, :3].T + slopes[:, 3], axis=1)
            joint += weight * density[:, None] * chances
        for row, values in zip(new, joint, strict=True):
            parts = [integrated(x, *(p[j] for p in draw.base[:4])) for j, x in enumerate(row)]
            values += fresh * np.prod(parts) / 3.0
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict_draws(draws, new, 3), expected, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract():
    check_estimator(DPMNLClassifier(n_sweeps=10, n_draws=5))


def test_beats_one_logit_where_the_boundary_bends():
    X, y = make_moons(500, noise=0.15, random_state=0)
    model = DPMNLClassifier(n_sweeps=60, random_state=0).fit(X[:300], y[:300])
    line = LogisticRegression().fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert model.score(X[300:], y[300:]) > line + 0.03


def test_equal_seeds_and_probabilities():
    X, y = load_iris(return_X_y=True)
    first, second = (
        DPMNLClassifier(n_sweeps=20, random_state=2).fit(X, y).predict_proba(X) for _ in range(2)
    )
    assert np.array_equal(first, second)
    np.testing.assert_allclose(first.sum(axis=1), 1.0)


@pytest.mark.parametrize("case", ["duplicates", "constant", "outlier", "two rows"])
def test_awkward_data(case):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    if case == "duplicates":
        X = np.repeat(X[:2], 20, axis=0)
    elif case == "constant":
        X[:, 1] = 3.0
    elif case == "outlier":
        X[0] = 1e9
    else:
        X, y = X[:2], y[:2]
    model = DPMNLClassifier(n_sweeps=15, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_sweeps", 0),
        ("sampler__burn_in", 100),
        ("sampler__weights__step", -1.0),
        ("sampler__new_components", 0),
        ("sampler__split_merge", -1),
        ("sampler__new_components", "exact"),
        ("sampler__groups", 2),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=name.split("__")[-1]):
        DPMNLClassifier(**{name: value}).fit(X, y)


def test_start_needs_no_member_twice():
    X, y = load_iris(return_X_y=True)
    clusters = np.arange(150) % 7
    chain = start_chain(np.random.default_rng(0), X, y, clusters, 3, 0.2, 5, 5)
    assert chain.experts.population.sum() == 150
    sweep(BLOCKS, chain)
    used = chain.experts.order[: chain.experts.size[0]]
    assert np.array_equal(
        np.bincount(chain.slots, minlength=used.max() + 1)[used], chain.experts.population[used]
    )


@pytest.mark.parametrize("kind", [DPMNLClassifier, InfiniteSVC])
def test_values_whose_squares_overflow_are_named(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) * [1.0, 1e30]  # such a unit is no trouble
    y = X[:, 0] > 0.0
    model = kind(n_sweeps=10, random_state=0).fit(X, y)
    X[3, 1] = 1e150
    told = r"feature 1 is 1e\+150 in row 3 \(counted from 0\): values beyond 1e\+100"
    with pytest.raises(DataError, match=told):
        model.predict_proba(X)
    with pytest.raises(DataError, match=told):
        kind(n_sweeps=10).fit(X, y)
