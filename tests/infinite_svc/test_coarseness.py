"""Steps that follow the coarseness of an expert's kinks."""

import numpy as np
import pytest
from test_weights import _draws, _error

from bayesmargin.foundation.compiling import from_python
from bayesmargin.models.infinite_svc.anchor import prepare_update
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.coarseness import gentle_step
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.settings import make_method
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.samplers import SSGNHT


def _problem(n_rows, n_features, classes):
    rng = np.random.default_rng(2)
    return 0.3 * rng.normal(size=(n_rows, n_features)), rng.integers(0, classes, n_rows)


@pytest.mark.parametrize("n_rows", [2, 8])
def test_the_default_step_does_not_cut_the_corners_of_few_rows(n_rows):
    """Rows of an expert have the mean loss that the exact sampler gives them."""
    hinge = Hinge(6.0, 1.0)
    design, labels = _problem(n_rows, 20, 3)

    def loss(name, step):
        weights = name if step is None else SSGNHT(step=step)
        method = make_method(weights, 1 if name == "gibbs" else 10)
        draws = _draws((design, labels), method, 40_000, hinge=hinge)
        scores = np.einsum("tyj,dj->tdy", draws, design)
        own = scores[:, np.arange(n_rows), labels]
        scores[:, np.arange(n_rows), labels] = -np.inf
        values = 6.0 * np.maximum(1.0 + scores.max(axis=2) - own, 0.0).mean(axis=1)
        return values.mean(), _error(values)

    exact, default, long = loss("gibbs", None), loss("ssgnht", None), loss("ssgnht", 0.1)
    for found in (exact, default, long):
        assert found[1] < 0.02 * exact[0]
    assert abs(default[0] - exact[0]) < 3.0 * np.hypot(default[1], exact[1]) + 0.01 * exact[0]
    assert long[0] > 1.07 * exact[0]


@pytest.mark.parametrize(("n_rows", "classes"), [(3, 2), (3, 5), (400, 2), (400, 5)])
def test_the_jump_is_that_of_the_rows_in_whitened_coordinates(n_rows, classes):
    hinge = Hinge(2.0, 1.0)
    design, labels = _problem(n_rows, 6, classes)
    design *= 10.0 / 3.0 if n_rows > 3 else 1.0
    base = make_base(np.zeros(0), 1.0, 2.0, np.eye(0), 1.0, n_rows)
    rows = make_rows(np.zeros((n_rows, 0)), design, labels, base, hinge)
    settings = Settings(hinge, make_method("ssgnht", 10))
    chain = start_chain(
        np.random.default_rng(0), rows, base, settings, np.zeros(n_rows, int), classes, 1.0
    )
    from_python(prepare_update)(0, chain.mixture)
    components = chain.components
    narrow = components.width[0] == 0.0
    assert narrow == (n_rows > 3)
    whitener = np.tril(components.whitener[0]) if narrow else components.width[0] * np.eye(6)
    used = design[np.arange(min(n_rows, 64)) * n_rows // min(n_rows, 64)]
    square = np.mean(np.sum((used @ whitener.T) ** 2, axis=1))
    expected = 2.0 * np.sqrt(square * (1.0 if classes == 2 else 2.0))
    assert components.jump[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("with_intercept", [False, True])
def test_sums_of_the_gaussians_make_the_same_metric(with_intercept):
    """Where experts see the columns of the Gaussians (and ones), all members are in the metric."""
    hinge = Hinge(2.0, 1.0)
    covariates, labels = _problem(60, 5, 2)
    covariates *= 10.0
    design = np.column_stack([covariates, np.ones(60)]) if with_intercept else covariates
    found = []
    for size in (5, 0):
        base = make_base(np.zeros(size), 1.0, size + 2.0, np.eye(size), 1.0, 60)
        rows = make_rows(covariates[:, :size], design, labels, base, hinge)
        assert rows.nested == (size == 5)
        settings = Settings(hinge, make_method("ssgnht", 10))
        rng = np.random.default_rng(0)
        chain = start_chain(rng, rows, base, settings, np.zeros(60, int), 2, 1.0)
        from_python(prepare_update)(0, chain.mixture)
        assert chain.components.width[0] == 0.0
        found.append((np.tril(chain.components.whitener[0]), chain.components.jump[0]))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-8, atol=1e-12)
    assert found[0][1] == pytest.approx(found[1][1])


def test_steps_are_shortened_by_default_only_and_never_below_a_fifth():
    step = from_python(gentle_step)
    default, given = (make_method(SSGNHT(step=h), 10) for h in (None, 0.1))
    assert [step(0.1, default.kick, jump) for jump in (0.0, 3.0, 6.0, 100.0)] == pytest.approx(
        [0.1, 0.1, 0.05, 0.02]
    )
    assert [step(0.1, given.kick, jump) for jump in (0.0, 6.0, 100.0)] == [0.1, 0.1, 0.1]
