r"""Geweke's test of the whole sampler, in the form that pseudo-likelihoods need.

The joint is :math:`CRP(Z)\,t(X \mid Z)\,p_0(\eta)\prod_d \psi(y_d \mid \eta_{z_d})`. Its marginal
over partitions and weights carries :math:`\prod_d C_d`, :math:`C_d = \sum_y \psi(y)`, so exact
draws come from rejection; the other side alternates labels and sweeps.
"""

import math
from functools import cache

import numpy as np
import pytest
from enumeration import log_crp, log_niw, partitions

from bayesmargin.models.infinite_svc.births import EXACT, PRIOR_DRAW
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian

HINGE = Hinge(1.2, 1.0)
CONCENTRATION = 1.1
DESIGN = np.array([[0.9, 1.0], [-0.3, 1.0], [0.5, 1.0]])
SCALE = 1.3


def _statistics(labels, signs, weights):
    """Label-invariant functions of partition, labels and the row's own weights."""
    own = weights[labels]
    return np.array(
        [
            len(set(labels.tolist())),
            labels[0] == labels[1],
            own[0, 0] ** 2,
            own[1, 0] * own[1, 1],
            own[0, 0] * signs[0],
            signs[0] * signs[1],
            (labels[0] == labels[2]) * signs[0] * signs[2],
        ],
        dtype=float,
    )


def _log_psi(scores, signs):
    return -HINGE.cost * np.maximum(HINGE.margin - signs * scores, 0.0)


def _exact_draws(rng, base, number):
    found = partitions(3)
    prior = (base.location, base.strength, base.degrees, base.scatter)
    logs = np.array(
        [
            log_crp(p, CONCENTRATION)
            + sum(log_niw(DESIGN[np.array(p) == k, :1], *prior) for k in range(max(p) + 1))
            for p in found
        ]
    )
    share = np.exp(logs - logs.max())
    share /= share.sum()
    bound = 1.0 + math.exp(-2.0 * HINGE.cost * HINGE.margin)
    values = []
    while len(values) < number:
        labels = np.array(found[rng.choice(len(found), p=share)])
        weights = SCALE * rng.standard_normal((3, 2))
        scores = np.einsum("dj,dj->d", weights[labels], DESIGN)
        plus, minus = np.exp(_log_psi(scores, 1.0)), np.exp(_log_psi(scores, -1.0))
        if rng.random() < np.prod((plus + minus) / bound):
            signs = np.where(rng.random(3) * (plus + minus) < plus, 1.0, -1.0)
            values.append(_statistics(labels, signs, weights))
    return np.array(values)


def _chain_draws(method, base, number, proposals, scheme):
    rng = np.random.default_rng(11)
    rows = make_rows(DESIGN[:, :1].copy(), DESIGN, np.array([1, 0, 1]), base, HINGE)
    settings = Settings(HINGE, method, scheme=scheme, proposals=proposals)
    chain = start_chain(rng, rows, base, settings, np.zeros(3, int), 2, CONCENTRATION)
    values = []
    for _ in range(number):
        chain.sweep()
        slots, weights = chain.assignment.slot, chain.components.weights[:, 0]
        scores = np.einsum("dj,dj->d", weights[slots], DESIGN)
        plus, minus = np.exp(_log_psi(scores, 1.0)), np.exp(_log_psi(scores, -1.0))
        rows.labels[:] = rng.random(3) * (plus + minus) < plus
        values.append(_statistics(slots, 2.0 * rows.labels - 1.0, weights))
    return np.array(values)


BASE = make_base(np.zeros(1), 0.4, 3.0, 0.5 * np.eye(1), SCALE, 3)


@cache
def _exact(number):
    return _exact_draws(np.random.default_rng(5), BASE, number)


def _scores(method, number, proposals, scheme):
    base, exact = BASE, _exact(number // 2)
    chain = _chain_draws(method, base, number, proposals, scheme)
    batches = chain[: number // 50 * 50].reshape(50, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 50 + exact.var(axis=0) / len(exact))
    return (chain.mean(axis=0) - exact.mean(axis=0)) / error


def test_sweep_with_split_merge_leaves_the_joint_invariant():
    assert np.all(np.abs(_scores(Augmentation(1), 30_000, 1, 0)) < 4.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", [Augmentation(1), Hamiltonian(0.4, 6)], ids=["gibbs", "hmc"])
@pytest.mark.parametrize("scheme", [0, 2])
def test_longer(method, scheme):
    assert np.all(np.abs(_scores(method, 200_000, 1, scheme)) < 4.0)


def test_prior_draw_is_found_out():
    """With this weights sampler; augmentation, which redraws the weights after births, hides it.

    (The largest of its seven scores is 4 in 200,000 sweeps.)
    """
    wrong = _scores(Hamiltonian(0.4, 6), 20_000, 0, PRIOR_DRAW)
    right = _scores(Hamiltonian(0.4, 6), 20_000, 0, EXACT)
    assert np.any(np.abs(wrong) > 6.0)
    assert np.all(np.abs(right) < 4.0)
