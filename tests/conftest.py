"""Problems that several tests share."""

import numpy as np
import pytest

from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.rows import DenseSource
from bayesmargin.targets.problem import Problem


def make_problem(
    X,
    label,
    *,
    n_classes=2,
    cost=1.0,
    margin=1.0,
    prior="gaussian",
    scale=1.0,
    intercept=False,
):
    """A problem on given rows with one cost for all of them."""
    source = DenseSource(np.asarray(X, dtype=float), intercept)
    size = source.n_columns * (1 if n_classes == 2 else n_classes)
    belief = (
        GaussianBelief(np.zeros(size), np.full(size, scale**-2.0))
        if prior == "gaussian"
        else LaplaceBelief(np.full(size, float(scale)))
    )
    label = np.asarray(label)
    return Problem(source, label, n_classes, np.full(len(label), float(cost)), margin, belief)


@pytest.fixture
def two_gaussians():
    """Two overlapping clouds with labels 0 and 1."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 400)
    X = rng.standard_normal((400, 4)) + np.outer(2 * label - 1, [0.8, 0.4, 0.0, -0.2])
    return X, label


@pytest.fixture
def three_clouds():
    """Three overlapping clouds with labels 0 to 2."""
    rng = np.random.default_rng(6)
    label = rng.integers(0, 3, 300)
    centres = np.array([[1.0, 0.0, 0.5], [-1.0, 0.5, 0.0], [0.0, -1.0, -0.5]])
    return rng.standard_normal((300, 3)) + centres[label], label


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Where files are dealt out, those of a folder go to one process."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.spreading import ByFolder

    return ByFolder(config, log)
