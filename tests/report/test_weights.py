"""Weights of several classes: what the classes share is the prior's, and no report is about it."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayesmargin import BayesianLinearSVC
from bayesmargin.posterior import Posterior
from bayesmargin.report.context import make_context
from bayesmargin.report.sections import diagnostics, weights

IRIS = load_iris()


def fitted(multi_class):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLinearSVC(n_draws=150, multi_class=multi_class, random_state=0)
        return model.fit(IRIS.data, IRIS.target)


@pytest.fixture(scope="module")
def models():
    return {name: fitted(name) for name in ("crammer_singer", "ovr")}


def sections(model, coef=None):
    """Text of the sections about weights, of the model or with other draws."""
    context = make_context(model, {"feature_names": list("abcd")}, None)
    own = model.posterior_
    if coef is not None:
        model.posterior_ = Posterior({**own, "coef": coef}, own.dims, own.coords, own.attrs)
    try:
        pages = f"{weights.write(context)} {diagnostics.write(context)}"
    finally:
        model.posterior_ = own
    return pages


def sureness(page, feature, kind):
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    (row,) = [
        row
        for row in rows
        if re.findall(r">([^<>]+)<", row)[:2] == [feature, str(kind)] and row.count("<td") == 6
    ]
    return float(re.findall(r'data-value="([^"]*)"', row)[-1])


def test_weights_of_several_classes_are_compared_with_their_mean(models):
    """Petals tell the flowers apart for certain, whatever the classes have in common."""
    model = models["crammer_singer"]
    draws = model.posterior_["coef"]
    relative = (draws - draws.mean(axis=2, keepdims=True)).reshape(-1, *draws.shape[2:])
    page = sections(model)
    for k in range(3):
        for j, name in enumerate("abcd"):
            line = relative[:, k, j]
            sure = max((line > 0).mean(), (line < 0).mean())
            assert sureness(page, name, k) == pytest.approx(sure, abs=1e-6)
    assert sureness(page, "c", 2) > 0.99


def test_what_classes_share_changes_no_section(models):
    draws = models["crammer_singer"].posterior_["coef"]
    shared = np.random.default_rng(0).normal(size=(*draws.shape[:2], 1, draws.shape[3]))
    model = models["crammer_singer"]
    before, after = sections(model), sections(model, draws + shared)
    assert re.findall(r'class="name">[^<]*<', after) == re.findall(r'class="name">[^<]*<', before)
    pages = [re.findall(r'data-value="([^"]*)"', page) for page in (before, after)]
    before, after = (np.array(page, dtype=float) for page in pages)
    # Rounding may exchange two ranks, by which R-hat goes.
    np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-9)


def test_classes_with_a_model_each_show_its_weights(models):
    model = models["ovr"]
    flat = model.posterior_.flat("coef")[:, 1, 0]
    sure = max((flat > 0).mean(), (flat < 0).mean())
    assert sureness(sections(model), "a", 1) == pytest.approx(sure, abs=1e-6)
