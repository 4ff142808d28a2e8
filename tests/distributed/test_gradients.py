"""The estimate at a station: unbiased over stations, equal to the gradient of one machine."""

import numpy as np
import pytest

from bayesmargin.approximation import fit_anchor
from bayesmargin.diagnostics.stein import full_gradients
from bayesmargin.distributed import stations as station_module
from bayesmargin.distributed.anchor import fit_sharded_anchor
from bayesmargin.distributed.cluster import LocalThreads, total
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem, sample_rows
from bayesmargin.distributed.shards import ProblemSettings, Shard, joined
from bayesmargin.distributed.stations import find_stations, station_targets
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.targets.rows import working_type, workspace


def sharded(X, label, n_shards, prior, n_classes=2):
    import dask.array as da

    size = -(-len(X) // n_shards)
    parts, n_bytes = open_partitions(
        da.from_array(X, chunks=(size, -1)), da.from_array(label, chunks=size), None
    )
    shards = Shards(LocalThreads(), parts, n_bytes)
    shards.encode(np.unique(label))
    return ShardedProblem(shards.cluster, shards, ProblemSettings(1.0, 1.0, True, prior, n_classes))


@pytest.fixture(params=["gaussian", "laplace"])
def prior(request):
    return (
        GaussianBelief(np.zeros(5), np.ones(5))
        if request.param == "gaussian"
        else LaplaceBelief(np.ones(5))
    )


def test_anchor_is_that_of_one_machine(clouds, prior, monkeypatch):
    """One machine reads blocks of a shard's size: products in single precision round alike."""
    X, y = clouds
    monkeypatch.setattr("bayesmargin.rows.source.BLOCK_BYTES", 8 * 5 * (len(X) // 5))
    problem = sharded(X, y, 5, prior)
    found = fit_sharded_anchor(problem, np.random.default_rng(0))
    label = np.searchsorted(np.unique(y), y)
    whole = problem.model.problem(Shard(X, label, None))
    wanted = fit_anchor(whole, np.random.default_rng(0))
    np.testing.assert_allclose(found.mean, wanted.mean, atol=1e-9)
    np.testing.assert_allclose(found.factor, wanted.factor, atol=1e-9)


def test_partitions_with_and_without_weights_are_joined():
    plain = Shard(np.zeros((2, 1)), np.array([0, 1]), None)
    weighted = Shard(np.ones((1, 1)), np.array([1]), np.array([3.0]))
    assert joined([plain, weighted]).weight.tolist() == [1.0, 1.0, 3.0]
    assert joined([plain, plain]).weight is None


def test_average_over_stations_is_the_full_gradient(clouds, prior, monkeypatch):
    """Formula (9) with its correction: exact on average, whatever the shares."""
    monkeypatch.setattr(station_module, "ROWS_PER_WEIGHT", 20)
    X, y = clouds
    problem = sharded(X, y, 6, prior)
    anchor = fit_sharded_anchor(problem, np.random.default_rng(0))
    places = 1.5 * np.random.default_rng(1).standard_normal((20, 5))
    found = find_stations(problem, anchor, np.random.default_rng(2))
    assert len(found.handles) == 6
    targets = problem.cluster.gather(
        station_targets(problem, found, 50, 0.2, np.random.default_rng(3))
    )
    average = np.zeros_like(places)
    for target, share in zip(targets, found.share, strict=True):
        work = workspace(target, working_type(target))
        average += share * full_gradients(target, places, work, np.random.default_rng(0))
    basis = found.anchor.axes
    weights = anchor.mean + places @ basis.T
    np.testing.assert_allclose(average, exact_gradient(problem, X, y, weights) @ basis, atol=2e-4)


def exact_gradient(problem, X, y, weights):
    design = np.column_stack([X, np.ones(len(X))])
    sign = np.where(y == "yes", 1.0, -1.0)
    active = (1.0 - sign * (weights @ design.T)) > 0.0
    prior = problem.model.prior
    own = weights if isinstance(prior, GaussianBelief) else np.sign(weights)
    return own - (active * sign) @ design


def test_sums_do_not_depend_on_the_tree():
    cluster = LocalThreads()
    handles = [cluster.submit("x", float, k) for k in range(100)]
    assert total(cluster, "x", handles) == 4950.0


def test_samples_have_the_composition_of_the_shards(clouds):
    X, y = clouds
    problem = sharded(X, y, 7, GaussianBelief(np.zeros(5), np.ones(5)))
    part = sample_rows(problem.shards, 2_000, np.random.default_rng(0))
    assert len(part.label) == 2_000
    assert abs(part.label.mean() - np.mean(y == "yes")) < 0.04
    assert len(np.unique(part.values, axis=0)) == 2_000
