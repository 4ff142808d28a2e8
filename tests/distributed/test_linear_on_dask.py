"""BayesianLinearSVC on Dask collections, on a cluster of two processes."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import PartitionError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("short_trajectories"),
]


@pytest.fixture(scope="module")
def single(clouds):
    return BayesianLinearSVC(random_state=0, n_draws=2000).fit(*clouds)


def on_dask(X, y, n_parts=6):
    size = -(-len(X) // n_parts)
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


def agree(model, single, tolerance=0.1):
    ours, theirs = model.posterior_.flat("coef"), single.posterior_.flat("coef")
    error = (ours.mean(axis=0) - theirs.mean(axis=0)) / theirs.std(axis=0)
    assert np.abs(error).max() < tolerance
    ratio = (ours.var(axis=0) / theirs.var(axis=0)).mean()
    assert 0.93 < ratio < 1.07


def test_sorted_shards_give_the_posterior_of_one_machine(client, clouds, single):
    X, y = clouds
    model = BayesianLinearSVC(random_state=1).fit(*on_dask(X, y))
    assert model.diagnostics_.trustworthy
    assert model.posterior_.attrs["ran_on"] == "cluster"
    assert model.posterior_.attrs["stations"] > 1
    agree(model, single)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(model.predict_proba(X[:50]), single.predict_proba(X[:50]), atol=0.03)


def test_draws_do_not_depend_on_where_they_are_made(client, clouds, monkeypatch):
    """Two processes or threads of this one: the same draws to the last bit."""
    X, y = clouds
    settings = {"random_state": 5, "n_draws": 50, "n_chains": 2}
    there = BayesianLinearSVC(**settings).fit(*on_dask(X, y))
    from bayesmargin.distributed import linear
    from bayesmargin.distributed.cluster import LocalThreads

    monkeypatch.setattr(linear, "active_cluster", LocalThreads)
    here = BayesianLinearSVC(**settings).fit(*on_dask(X, y))
    assert here.posterior_.attrs["ran_on"] == "threads of this process"
    assert np.array_equal(there.posterior_["coef"], here.posterior_["coef"])


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, which calls pandas so
@pytest.mark.filterwarnings("ignore:An error occurred while calling the read_parquet")
def test_data_frames_and_parquet(client, clouds, single, tmp_path):
    import pandas

    X, y = clouds
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y)
    dd.from_pandas(frame, npartitions=4, sort=False).to_parquet(tmp_path)
    read = dd.read_parquet(tmp_path)
    model = BayesianLinearSVC(random_state=1).fit(read[["a", "b", "c", "d"]], read["y"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    agree(model, single)
    lazy = model.predict(read[["a", "b", "c", "d"]])
    assert (lazy.compute() == model.predict(frame[["a", "b", "c", "d"]])).all()


def test_delayed_sparse_partitions_and_weights(client, clouds, single):
    X, y = clouds
    parts = [
        dask.delayed((sparse.csr_array(X[k::3]), y[k::3], np.full(len(y[k::3]), 1.0)))
        for k in range(3)
    ]
    model = BayesianLinearSVC(random_state=1).fit(parts)
    assert model.posterior_.attrs["ran_on"] == "cluster"
    agree(model, single)


def test_weights_of_zero_and_two_leave_rows_out(clouds, monkeypatch):
    """Their sum is the number of rows, but there are half as many."""
    from bayesmargin.distributed import linear
    from bayesmargin.distributed.cluster import LocalThreads

    monkeypatch.setattr(linear, "active_cluster", LocalThreads)
    X, y = clouds[0][::60], clouds[1][::60]
    weight = np.where(np.arange(len(y)) % 2, 2.0, 0.0)
    settings = {"random_state": 5, "n_draws": 50, "n_chains": 2}
    rows, labels = on_dask(X, y, 2)
    weighted = BayesianLinearSVC(**settings).fit(rows, labels, sample_weight=weight)
    kept = on_dask(X[1::2], y[1::2], 2)
    rest = BayesianLinearSVC(**settings).fit(*kept, sample_weight=weight[1::2])
    assert np.array_equal(weighted.posterior_["coef"], rest.posterior_["coef"])


def test_predictions_are_lazy_and_equal(client, clouds, single):
    X, y = clouds
    rows, _ = on_dask(X[::40], y[::40], 3)
    for name in ("predict", "predict_proba", "predict_votes", "decision_function", "predict_lead"):
        lazy = getattr(single, name)(rows)
        assert isinstance(lazy, da.Array)
        wanted = getattr(single, name)(X[::40])
        assert lazy.shape == wanted.shape
        assert lazy.dtype == wanted.dtype
        assert np.array_equal(lazy.compute(), wanted)
    for name in ("decision_function", "predict_lead"):
        _, deviation = getattr(single, name)(rows, return_std=True)
        wanted = getattr(single, name)(X[::40], return_std=True)[1]
        assert np.allclose(deviation.compute(), wanted)


def broken(number):
    if number == 2:
        raise OSError("the disk is gone")
    return np.ones((10, 2)), np.arange(10) % 2


def test_partition_that_cannot_be_read_is_named(client):
    parts = [dask.delayed(broken)(k) for k in range(4)]
    with pytest.raises(PartitionError, match=r"partition 2 of 4 .* OSError: the disk is gone"):
        BayesianLinearSVC().fit(parts)


def test_bad_values_are_named(client):
    bad = np.ones((10, 2))
    bad[3, 1] = np.nan
    parts = [dask.delayed((np.ones((10, 2)), np.arange(10) % 2)), dask.delayed((bad, np.ones(10)))]
    with pytest.raises(PartitionError, match=r"partition 1 of 2 .* NaN or infinity"):
        BayesianLinearSVC().fit(parts)


def test_clear_errors(client, clouds):
    rows, labels = on_dask(*clouds)
    with pytest.raises(ValueError, match="SubgradientHMC does not run on Dask"):
        BayesianLinearSVC(sampler="hmc").fit(rows, labels)
    with pytest.raises(ValueError, match="only one class"):
        BayesianLinearSVC().fit(rows, da.zeros(len(rows), chunks=rows.chunks[0]))
    with pytest.raises(ValueError, match="y=None"):
        BayesianLinearSVC().fit(rows)
    with pytest.raises(ValueError, match="X has 6000 rows and y has 10"):
        BayesianLinearSVC().fit(rows, labels[:10])
    wide = da.zeros((100, 801), chunks=(50, -1))
    with pytest.raises(ValueError, match="802 weights are too many"):
        BayesianLinearSVC().fit(wide, da.from_array(np.arange(100) % 2, chunks=50))


def test_ssgld(client, clouds, single):
    model = BayesianLinearSVC(sampler="ssgld", random_state=1).fit(*on_dask(*clouds))
    assert model.posterior_.attrs["sampler"] == "ssgld"
    agree(model, single, 0.15)


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_three_classes(client, three_clouds, multi_class, monkeypatch):
    X, y = three_clouds
    order = np.argsort(y, kind="stable")
    settings = {"random_state": 1, "multi_class": multi_class}
    single = BayesianLinearSVC(**settings).fit(X, y)
    model = BayesianLinearSVC(**settings).fit(*on_dask(X[order], y[order], 3))
    assert model.posterior_["coef"].shape == single.posterior_["coef"].shape
    agree(model, single, 0.15)
