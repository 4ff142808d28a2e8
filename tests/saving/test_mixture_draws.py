"""Draws of saved mixtures whose parts do not fit each other are refused, not predicted with."""

import copy

import numpy as np
import pytest

import bayesmargin
from bayesmargin.errors import SavedModelError
from bayesmargin.models.dpmnl.state import Hyper
from tests.saving import fitted


def _with_last(change):
    """A dpMNL model whose last draw was changed; the others are as they were."""
    model = copy.copy(fitted.model("dpmnl"))
    model._draws = [*model._draws[:-1], change(model._draws[-1])]
    return model


def _base(**parts):
    return lambda draw: draw._replace(base=draw.base._replace(**parts))


def _experts(**changes):
    """Parts of the experts replaced by functions of them."""

    def change(draw):
        parts = {name: made(getattr(draw.experts, name)) for name, made in changes.items()}
        return draw._replace(experts=draw.experts._replace(**parts))

    return change


def _spoilt(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 1, np.nan, array)


DAMAGES = {
    "mean too long": (_base(mean=np.zeros(9)), "base measure"),
    "spread too short": (_base(log_spread=np.zeros(0)), "base measure"),
    "level of two axes": (_base(level=np.zeros((3, 3))), "base measure"),
    "level of whole numbers": (_base(level=np.zeros(3, np.int64)), "base measure"),
    "no array": (_base(log_level_spread=None), "base measure"),
    "two concentrations": (_base(log_concentration=np.zeros(2)), "base measure"),
    "bound too long": (_base(narrowest=np.zeros(4)), "base measure"),
    "no number": (_base(mean=np.array([0.0, np.nan, 0.0])), "base measure"),
    "another object": (lambda draw: draw._replace(base=draw.experts), "base measure"),
    "no components": (
        lambda draw: type(draw)(
            np.empty(0), type(draw.experts)(*(part[:0] for part in draw.experts)), draw.base
        ),
        "weights of a draw",
    ),
    "populations missing": (_experts(population=lambda p: p[:1]), "population"),
    "order missing": (_experts(order=lambda p: p[:1]), "order"),
    "size missing": (_experts(size=lambda p: p[:0]), "size"),
    "means that are no numbers": (_experts(mean=_spoilt), "means of a draw"),
    "coefficients that are no numbers": (_experts(coefficients=_spoilt), "coefficients of a draw"),
    "weights that are no numbers": (
        lambda draw: draw._replace(log_weight=_spoilt(draw.log_weight)),
        "weights of a draw",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_draw_of_dpmnl_whose_parts_do_not_fit_is_refused(name, tmp_path):
    """Of NaN equal probabilities were made, without a word."""
    change, message = DAMAGES[name]
    _with_last(change).save(tmp_path / "model")
    with pytest.raises(SavedModelError, match=rf"fit each other: .*{message}"):
        bayesmargin.load(tmp_path / "model")


def test_draws_of_dpmnl_without_a_base_measure_are_read(tmp_path):
    """As models saved by early versions have them."""
    model = _with_last(lambda draw: draw._replace(base=None))
    model._draws[0] = _base(narrowest=None)(model._draws[0])
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert [type(draw.base) for draw in loaded._draws] == [Hyper] * 3 + [type(None)]
    X = fitted.rows()[0]
    assert fitted.same(loaded.predict_proba(X), model.predict_proba(X))


def test_draws_with_constant_columns_are_read(tmp_path):
    """Their base measure has no spread there: a log variance of minus infinity."""
    X, y = fitted.rows()
    model = bayesmargin.DPMNLClassifier(n_sweeps=4, sampler__weights__n_leapfrog=3, random_state=0)
    X = np.column_stack([X, np.ones(len(X))])
    model.fit(X, y).save(tmp_path / "model")
    again = bayesmargin.load(tmp_path / "model")
    assert fitted.same(again.predict_proba(X), model.predict_proba(X))
