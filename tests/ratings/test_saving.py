"""A factorization can be saved, loaded, damaged, and goes on after it was stopped."""

import pytest

import bayesmargin
from bayesmargin import Checkpoint, MaxMarginFactorization
from bayesmargin.errors import SavedModelError
from bayesmargin.models.saved.ratings import check
from bayesmargin.running.progress import watching

from ..crashing import CrashAt
from .test_factorization import SHORT, taste


def test_a_loaded_model_answers_as_before(tmp_path):
    rows = [(f"user {i}", f"film {j}", k) for i, j, k in taste(15, 10).tolist()]
    model = MaxMarginFactorization(**SHORT).fit(rows)
    model.save(tmp_path / "ratings")
    again = bayesmargin.load(tmp_path / "ratings")
    asked = [("user 1", "film 2"), ("nobody", "film 2")]
    assert (again.predict_proba(asked) == model.predict_proba(asked)).all()
    assert again.item_table().equals(model.item_table())
    assert str(again.diagnostics_) == str(model.diagnostics_)


def test_parts_that_do_not_fit_are_refused():
    model = MaxMarginFactorization(**SHORT).fit(taste(15, 10))
    check(model, 3)
    whole = dict(vars(model))
    for name, value in (
        ("users_", model.users_[:-1]),
        ("items_", model.items_[::-1]),
        ("levels_", model.levels_[:-1]),
        ("n_factors", 5),
        ("diagnostics_", 3.0),
    ):
        vars(model).update({**whole, name: value})
        with pytest.raises(SavedModelError):
            check(model, 3)
        vars(model).update(whole)


@pytest.mark.parametrize("sampler", ["gibbs", "ssgnht"])
@pytest.mark.parametrize("sweeps", [10, 30])
def test_a_fit_goes_on_bit_by_bit(sweeps, sampler, tmp_path):
    rows = taste(15, 10)
    short = {**SHORT, "sampler": sampler}
    settings = {**short, "checkpoint": Checkpoint(tmp_path / "state", every=1e-6)}
    straight = MaxMarginFactorization(**short).fit(rows)
    with watching(CrashAt(sweeps)), pytest.raises(RuntimeError, match="crash"):
        MaxMarginFactorization(**settings).fit(rows)
    assert (tmp_path / "state").exists()
    resumed = MaxMarginFactorization(**settings).fit(rows)
    for name in straight.posterior_:
        assert (resumed.posterior_[name] == straight.posterior_[name]).all()
    assert not (tmp_path / "state").exists()
