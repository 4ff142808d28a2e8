"""Links can be saved, loaded, damaged, and a fit goes on after it was stopped."""

import numpy as np
import pytest

import bayesmargin
from bayesmargin import Checkpoint, MaxMarginLinks
from bayesmargin.errors import SavedModelError
from bayesmargin.models.saved.links import check
from bayesmargin.running.progress import watching

from ..crashing import CrashAt
from .test_links import SHORT, blocks


@pytest.mark.parametrize("directed", [False, True])
def test_loaded_links_answer_as_before(directed, tmp_path):
    links, _ = blocks(12, directed=directed)
    model = MaxMarginLinks(directed, **SHORT).fit({"a": links, "b": links.T})
    model.save(tmp_path / "links")
    again = bayesmargin.load(tmp_path / "links")
    assert (again.probability_matrix("b") == model.probability_matrix("b")).all()
    assert (again.order() == model.order()).all()
    assert (again.n_features_ == model.n_features_).all()
    assert str(again.diagnostics_) == str(model.diagnostics_)


def test_parts_that_do_not_fit_are_refused():
    model = MaxMarginLinks(**SHORT).fit(blocks(12)[0])
    check(model, 12)
    whole = dict(vars(model))
    first = model._draws[0]
    for name, value in (
        ("entities_", model.entities_[:-1]),
        ("_draws", model._draws[:-1]),
        ("_draws", [first._replace(held=np.full((12, 1), 2, np.int8)), *model._draws[1:]]),
        ("_draws", [first._replace(weights=np.zeros((1, 99, 99))), *model._draws[1:]]),
        ("chances_", 3.0),
        ("diagnostics_", 3.0),
    ):
        vars(model).update({**whole, name: value})
        with pytest.raises(SavedModelError):
            check(model, 12)
        vars(model).update(whole)


@pytest.mark.parametrize(("sampler", "sweeps"), [("gibbs", 5), ("gibbs", 20), ("hmc", 20)])
def test_a_fit_goes_on_bit_by_bit(sampler, sweeps, tmp_path):
    links, _ = blocks(15)
    settings = {**SHORT, "sampler": sampler}
    kept = {**settings, "checkpoint": Checkpoint(tmp_path / "state", every=1e-6)}
    straight = MaxMarginLinks(**settings).fit(links)
    with watching(CrashAt(sweeps)), pytest.raises(RuntimeError, match="crash"):
        MaxMarginLinks(**kept).fit(links)
    assert (tmp_path / "state").exists()
    resumed = MaxMarginLinks(**kept).fit(links)
    assert (resumed.probability_matrix() == straight.probability_matrix()).all()
    assert (resumed.n_features_ == straight.n_features_).all()
    assert not (tmp_path / "state").exists()
    other = links.copy()
    other[0, 1] = other[1, 0] = 1.0 - links[0, 1]
    assert (MaxMarginLinks(**kept).fit(other).probability_matrix()
            != straight.probability_matrix()).any()  # fmt: skip
