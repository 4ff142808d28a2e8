"""Splits and merges: all partitions of four rows against enumeration, and what they find."""

import math

import numpy as np
import pytest
from scipy import special, stats
from sklearn.datasets import make_circles
from sklearn.metrics import log_loss

from bayesmargin import DPMNLClassifier
from bayesmargin.foundation.compiling import jit
from bayesmargin.models.dpmnl.assignments import sweep_assignments
from bayesmargin.models.dpmnl.blocks import BLOCKS
from bayesmargin.models.dpmnl.chain import start_chain
from bayesmargin.models.dpmnl.logit import update_logit
from bayesmargin.models.dpmnl.parameters import (
    update_covariates,
    update_scales,
)
from bayesmargin.models.dpmnl.split_merge import split_merge
from bayesmargin.models.dpmnl.state import Hyper, empty_experts
from bayesmargin.running.gibbs import sweep

HYPER = Hyper(*(np.array([v]) for v in (0.3, 0.4, -0.8, 0.5, 0.7, -45.0)))
ROWS = np.array([[-1.2], [-0.7], [0.4], [1.5]])
LABELS = np.array([0, 1, 1, 0])


def _covariates(x):
    """Log density of the covariates of a component, by a fine grid over the log variance."""
    v, step = np.linspace(-16.0, 14.0, 6001, retstep=True)
    n, spread = len(x), math.exp(HYPER.log_spread[0])
    value = stats.norm.logpdf(v, HYPER.level[0], math.exp(0.5 * HYPER.log_level_spread[0]))
    w = spread + np.exp(v) / n
    value += -0.5 * n * math.log(2.0 * math.pi) - 0.5 * (n - 1) * v - 0.5 * math.log(n)
    value += -0.5 * x.var() * n * np.exp(-v) - 0.5 * np.log(w)
    value += -0.5 * (x.mean() - HYPER.mean[0]) ** 2 / w
    return special.logsumexp(value) + math.log(step)


def _labels(x, y, nodes=24):
    """Log probability of two classes of labels: a difference of slopes, one of intercepts."""
    z, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight /= weight.sum()
    score = np.exp(0.5 * z)[:, None] * z  # times a log-normal deviation
    mass = np.outer(weight, weight).ravel()
    part = math.sqrt(2.0) * score.ravel()  # a difference has twice the variance
    total = 1.0
    for value, label in zip(x, y, strict=True):
        sign = 1.0 if label else -1.0
        total = total * special.expit(sign * (part[:, None] + part * value))
    return math.log(mass @ total @ mass)


def _partitions(rows):
    if not rows:
        yield []
        return
    for rest in _partitions(rows[1:]):
        yield [[rows[0]], *rest]
        for k in range(len(rest)):
            yield [*rest[:k], [rows[0], *rest[k]], *rest[k + 1 :]]


def _code(blocks):
    """Number of a partition: digits are the least row of each row's block."""
    return sum(min(block) * 4**d for block in blocks for d in block)


def _enumerated(crowds=1.0, covariates=1.0, labels=1.0):
    """Probability of every partition of the four rows; factors other than one are mistakes."""
    log_mass = {}
    for blocks in _partitions([0, 1, 2, 3]):
        value = len(blocks) * HYPER.log_concentration[0]
        for block in blocks:
            value += crowds * math.lgamma(len(block)) + covariates * _covariates(ROWS[block, 0])
            value += labels * _labels(ROWS[block, 0], LABELS[block])
        log_mass[_code(blocks)] = value
    top = special.logsumexp(list(log_mass.values()))
    return {code: math.exp(value - top) for code, value in log_mass.items()}


@jit
def _visit(rng, X, labels, slots, experts, hyper, sides, gibbs, out):
    for t in range(out.shape[0]):
        split_merge(rng, X, labels, slots, experts, hyper, sides)
        if gibbs:
            sweep_assignments(rng, X, labels, slots, experts, hyper, 0, 2)
        for position in range(experts.size[0]):
            slot = experts.order[position]
            members = np.flatnonzero(slots == slot)
            update_covariates(rng, slot, members, X, experts, hyper)
            update_logit(rng, slot, members, X, labels, experts, 0.4, 5)
            update_scales(rng, slot, experts)
        code = 0
        for d in range(slots.shape[0]):
            least = 0
            while slots[least] != slots[d]:
                least += 1
            code += least * 4**d
        out[t] = code


def visited(seed, number, gibbs):
    """Partitions that splits and merges visit, alone or with Gibbs sweeps; parameters move, too."""
    rng, slots = np.random.default_rng(seed), np.zeros(4, np.int64)
    experts, sides = empty_experts(16, 1, 2), empty_experts(3, 1, 2)
    experts.size[0], experts.population[0] = 1, 4
    out = np.empty(number, np.int64)
    _visit(rng, ROWS, LABELS, slots, experts, HYPER, sides, gibbs, out)
    return out


def deviations(visits, truth):
    """Errors of the frequencies of partitions, in standard errors."""
    found = []
    for code, chance in truth.items():
        share = (visits == code).reshape(50, -1).mean(axis=1)
        found.append((share.mean() - chance) / (share.std(ddof=1) / math.sqrt(50)))
    return np.abs(found)


WRONG = [{"crowds": 0.0}, {"covariates": 0.8}, {"labels": 0.5}]


@pytest.mark.parametrize("gibbs", [False, True])
def test_partitions_of_four_rows_against_enumeration(gibbs):
    visits = visited(0, 100_000, gibbs)
    assert deviations(visits, _enumerated()).max() < 4.5
    for mistake in WRONG:  # which would be seen
        assert deviations(visits, _enumerated(**mistake)).max() > 6.0


@pytest.mark.slow
@pytest.mark.parametrize("gibbs", [False, True])
def test_partitions_of_four_rows_against_enumeration_at_length(gibbs):
    assert deviations(visited(1, 500_000, gibbs), _enumerated()).max() < 4.5


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_splits_find_what_rows_one_by_one_do_not(seed):
    """Two rings need a dozen components; chains began with five and stayed there."""
    X, y = make_circles(400, noise=0.1, factor=0.5, random_state=seed)
    rows, truth = make_circles(1000, noise=0.1, factor=0.5, random_state=99)
    loss = {}
    for proposals in (0, 5):
        model = DPMNLClassifier(n_sweeps=60, sampler__split_merge=proposals, random_state=seed).fit(
            X, y
        )
        loss[proposals] = log_loss(truth, model.predict_proba(rows))
    assert loss[5] < 0.85 * loss[0]
    assert model.n_components_.mean() > 9.0


def test_a_component_can_be_split_when_all_slots_are_in_use():
    rng = np.random.default_rng(0)
    X = np.repeat([[-6.0], [0.0], [6.0]], 30, axis=0) + 0.3 * rng.standard_normal((90, 1))
    chain = start_chain(rng, X, np.arange(90) % 2, np.zeros(90), 2, 0.2, 5, 1, proposals=40)
    for _ in range(5):
        sweep(BLOCKS, chain)
    used = chain.experts.order[: chain.experts.size[0]]
    assert len(used) >= 3
    np.testing.assert_array_equal(np.sort(used), np.unique(chain.slots))
    counts = np.bincount(chain.slots, minlength=used.max() + 1)[used]
    np.testing.assert_array_equal(counts, chain.experts.population[used])
