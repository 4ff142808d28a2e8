"""The evidence of one row for a new component, and the exact draw of its weights."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import jit
from bayesmargin.models.infinite_svc.experts import log_psi
from bayesmargin.models.infinite_svc.newcomer import draw_weights, log_evidence
from bayesmargin.models.infinite_svc.state import Hinge, Rows

FIXTURE = [
    (1.0, 1.0, 1.0, 2, -0.7350111),
    (4.0, 1.0, 1.0, 27, -2.9107230),
    (0.3, 2.0, 5.0, 3, -9.6242175),
    (25.0, 0.7, 3.0, 10, -2.7193122),
    (10.0, 1.0, 1.0, 27, -3.1220763),
]


@pytest.mark.parametrize(("variance", "cost", "margin", "classes", "expected"), FIXTURE)
def test_evidence_matches_the_reference_integrals(variance, cost, margin, classes, expected):
    # Two classes are one score here, the difference of two: its variance is twice as large.
    rho = np.array([2.0 * variance if classes == 2 else variance])
    assert log_evidence(rho, Hinge(cost, margin), classes)[0] == pytest.approx(expected, abs=1e-6)


def test_limits_of_the_evidence():
    hinge = Hinge(1.3, 0.8)
    small, large = log_evidence(np.array([1e-10, 1e8]), hinge, 5)
    assert small == pytest.approx(-1.3 * 0.8, abs=1e-4)
    assert large == pytest.approx(-np.log(5), abs=1e-3)


def test_table_for_many_rows_agrees_with_the_integral():
    hinge = Hinge(3.0, 1.0)
    rho = np.exp(np.random.default_rng(0).uniform(-4, 6, 5000))
    table = log_evidence(rho, hinge, 7)
    direct = log_evidence(rho[:100], hinge, 7)
    np.testing.assert_allclose(table[:100], direct, atol=1e-8)


@jit
def _exact(rng, rows, hinge, scale, out):
    for t in range(out.shape[0]):
        draw_weights(rng, 0, rows, hinge, scale, out[t])


@jit
def _rejection(rng, row, label, hinge, scale, out):
    scores = np.empty(out.shape[1])
    filled = 0
    while filled < out.shape[0]:
        for y in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[filled, y, j] = scale * rng.standard_normal()
        if np.log(rng.random()) < log_psi(out[filled], row, label, hinge, scores):
            filled += 1


@pytest.mark.parametrize("vectors", [1, 4])
def test_exact_draw_has_the_moments_of_rejection(vectors):
    hinge, scale, label, number = Hinge(2.0, 1.0), 1.4, 1, 60_000
    row = np.array([0.8, -0.5, 1.0])
    classes = 2 if vectors == 1 else vectors
    area = log_evidence(np.array([scale**2 * row @ row]), hinge, classes)
    unknown = np.full(1, np.nan)
    rows = Rows(row[None, :], row[None, :], np.array([label]), unknown, area, unknown.copy())
    exact, plain = np.empty((number, vectors, 3)), np.empty((number, vectors, 3))
    _exact(np.random.default_rng(1), rows, hinge, scale, exact)
    _rejection(np.random.default_rng(2), row, label, hinge, scale, plain)
    for function in (lambda w: w, lambda w: w**2, lambda w: (w @ row)[..., None]):
        a, b = function(exact), function(plain)
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / number)
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.5 * error)
