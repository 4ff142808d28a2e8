"""A vote can be saved, loaded, damaged, and goes on after it was stopped."""

import numpy as np
import pytest

import bayesmargin
from bayesmargin import Checkpoint, MaxMarginVoting
from bayesmargin.errors import SavedModelError
from bayesmargin.models.saved.crowd import check
from bayesmargin.running.progress import watching

from ..crashing import CrashAt
from .test_voting import SHORT, crowd


@pytest.mark.parametrize("settings", [{}, {"pseudo_counts": None, "prior_mean": 1.0}])
def test_a_loaded_vote_answers_as_before(settings, tmp_path):
    rows, _ = crowd(30)
    words = [(f"item {i}", "abcde"[j], "yes" if k else "no") for i, j, k in rows]
    model = MaxMarginVoting(**SHORT, **settings).fit(words)
    model.save(tmp_path / "vote")
    again = bayesmargin.load(tmp_path / "vote")
    assert again.item_table().equals(model.item_table())
    assert again.worker_table().equals(model.worker_table())
    assert (again.predict_proba(words) == model.predict_proba(words)).all()
    assert str(again.diagnostics_) == str(model.diagnostics_)
    assert again.diagnostics_.trustworthy == model.diagnostics_.trustworthy


def test_parts_that_do_not_fit_are_refused():
    rows, _ = crowd(20)
    model = MaxMarginVoting(**SHORT).fit(rows)
    check(model, 3)
    whole = dict(vars(model))
    for name, value in (
        ("probability_", model.probability_[:, :1]),
        ("workers_", model.workers_[:-1]),
        ("items_", model.items_[::-1]),
        ("pseudo_counts", None),
        ("diagnostics_", 3.0),
    ):
        vars(model).update({**whole, name: value, **({"prior_mean": 1.0} if value is None else {})})
        with pytest.raises(SavedModelError):
            check(model, 3)
        vars(model).update(whole)


@pytest.mark.parametrize("sweeps", [10, 45])
def test_a_fit_goes_on_bit_by_bit(sweeps, tmp_path):
    rows, _ = crowd(30)
    settings = {**SHORT, "checkpoint": Checkpoint(tmp_path / "state", every=1e-6)}
    straight = MaxMarginVoting(**SHORT).fit(rows)
    with watching(CrashAt(sweeps)), pytest.raises(RuntimeError, match="crash"):
        MaxMarginVoting(**settings).fit(rows)
    assert (tmp_path / "state").exists()
    resumed = MaxMarginVoting(**settings).fit(rows)
    assert (resumed.probability_ == straight.probability_).all()
    for name in straight.posterior_:
        assert (resumed.posterior_[name] == straight.posterior_[name]).all()
    assert not (tmp_path / "state").exists()
    other = np.array(rows)
    other[0, 2] = 1 - other[0, 2]
    assert (MaxMarginVoting(**settings).fit(other).probability_ != straight.probability_).any()
