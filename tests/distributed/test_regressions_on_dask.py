"""Linear regressions on Dask collections."""

import dask.array as da
import numpy as np
import pytest

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.errors import PartitionError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("short_trajectories"),
]
KINDS = {
    "tube": lambda **s: BayesianLinearSVR(C="auto", **s),
    "given": lambda **s: BayesianLinearSVR(C=0.5, epsilon=1.0, **s),
    "quantiles": lambda **s: BayesianQuantileRegressor([0.2, 0.5, 0.9], C="auto", **s),
}


@pytest.fixture(scope="module")
def rows():
    """Rows sorted by their values, far from zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 4))
    y = 40.0 + X @ [3.0, -2.0, 0.0, 1.0] + 2.0 * rng.standard_t(4, size=6000)
    order = np.argsort(y)
    return X[order], y[order]


@pytest.mark.parametrize("kind", KINDS)
def test_sorted_shards_give_the_posterior_of_one_machine(kind, client, rows):
    X, y = rows
    there = da.from_array(X, chunks=(1000, -1)), da.from_array(y, chunks=1000)
    model, single = KINDS[kind](random_state=1).fit(*there), KINDS[kind](random_state=0).fit(X, y)
    assert model.diagnostics_.trustworthy
    assert model.posterior_.attrs["ran_on"] == "cluster"
    assert pytest.approx(single.C_, rel=1e-6) == model.C_
    ours, theirs = (m.posterior_.flat("coef") for m in (model, single))
    error = (ours.mean(axis=0) - theirs.mean(axis=0)) / theirs.std(axis=0)
    assert np.abs(error).max() < 0.15
    assert (ours.var(axis=0) / theirs.var(axis=0)).mean() == pytest.approx(1.0, abs=0.08)
    values, deviation = model.predict(there[0], return_std=True)
    assert isinstance(values, da.Array)
    np.testing.assert_array_equal(np.asarray(values), model.predict(X))
    np.testing.assert_allclose(np.asarray(deviation), model.predict(X, return_std=True)[1])
    ends = np.asarray(model.predict_interval(there[0], 0.8))
    np.testing.assert_array_equal(ends, model.predict_interval(X, 0.8))
    assert np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) == pytest.approx(0.8, abs=0.03)
    assert model.score(*there) == pytest.approx(model.score(X, y))
    robust, wanted = (m.posterior_.robust()["coef"].std(axis=(0, 1)) for m in (model, single))
    assert robust == pytest.approx(wanted, rel=0.1)


def test_values_that_are_none_are_refused(client, rows):
    X, y = rows[0][:60], rows[1][:60].copy()
    y[7] = np.nan
    with pytest.raises(PartitionError, match="partition 0 of 3"):
        BayesianLinearSVR().fit(da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20))
