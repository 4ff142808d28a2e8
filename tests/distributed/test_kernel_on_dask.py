"""The kernel model on Dask collections."""

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import make_moons

from bayesmargin import BayesianSVC
from bayesmargin.errors import DataError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("short_trajectories"),
]
GIVEN = {"C": 2.0, "gamma": 1.0, "n_components": 12, "n_draws": 500, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    """Rows sorted by their labels, so that shards differ."""
    X, y = make_moons(1200, noise=0.3, random_state=0)
    order = np.argsort(y, kind="stable")
    return X[order], np.array(["lower", "upper"])[y[order]]


@pytest.fixture(scope="module")
def there(moons):
    return da.from_array(moons[0], chunks=(300, -1)), da.from_array(moons[1], chunks=300)


@pytest.mark.parametrize("kept", [True, False])
def test_sorted_shards_give_the_posterior_of_one_machine(kept, client, moons, there, monkeypatch):
    from bayesmargin.distributed import partitions

    X, y = moons
    if not kept:  # features are made anew in every pass
        monkeypatch.setattr(partitions.Shards, "widen", _without_memory)
    model = BayesianSVC(**GIVEN).fit(*there)
    single = BayesianSVC(**GIVEN, sampler="ssgnht").fit(X, y)
    assert list(model.classes_) == ["lower", "upper"]
    assert model.posterior_.attrs["ran_on"] == "cluster"
    new = make_moons(200, noise=0.3, random_state=1)[0]
    mean, sd = single.decision_function(new, return_std=True)
    told, told_sd = model.decision_function(new, return_std=True)
    assert np.sqrt(np.mean(((told - mean) / sd) ** 2)) < 0.2
    assert abs(np.mean(told_sd / sd) - 1.0) < 0.08
    assert np.abs(model.predict_proba(new) - single.predict_proba(new)).max() < 0.05
    np.testing.assert_allclose(model.predict_proba([[40.0, 40.0]]), 0.5, atol=0.01)
    chance = model.predict_proba(there[0])
    assert isinstance(chance, da.Array)
    np.testing.assert_allclose(np.asarray(chance), model.predict_proba(X))
    assert model.score(*there) == pytest.approx(model.score(X, y))


def _without_memory(self, function, *args, n_columns):
    self.kept = False
    self.recode(function, *args)
    self.n_columns, self.names = n_columns, None


def test_everything_is_chosen_with_random_features(client, moons, there):
    settings = {"n_draws": 60, "n_chains": 2, "random_state": 0}
    model = BayesianSVC(kernel__features="random", **settings).fit(*there)
    assert model.profile_ is not None
    assert model.score(*moons) > 0.85


def test_what_is_wrong_is_named(client, there):
    with pytest.raises(DataError, match=r"precomputed.*square matrix in memory"):
        BayesianSVC(kernel="precomputed", C=1.0).fit(*there)
    with pytest.raises(ValueError, match="class_weight is not known"):
        BayesianSVC(class_weight="balanced").fit(*there)
