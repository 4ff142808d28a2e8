"""``BayesianLinearSVC.fit`` on Dask collections."""

from typing import Any

import numpy as np

from bayesmargin.calibration import MAX_ROWS, Link
from bayesmargin.distributed.cluster import active_cluster
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem, sample_rows
from bayesmargin.distributed.sampler import DistributedSampler
from bayesmargin.distributed.shards import Model
from bayesmargin.models.linear_fit import LinearData, calibrate, joined
from bayesmargin.progress import Progress
from bayesmargin.sampling import Run, sample


def open_shards(X: Any, y: Any, sample_weight: Any) -> Shards:
    """Shards of a collection on the active cluster."""
    parts, n_bytes = open_partitions(X, y, sample_weight)
    return Shards(active_cluster(), parts, n_bytes)


def sample_shards(
    shards: Shards,
    priors: list[Any],
    settings: Any,
    sampler: DistributedSampler,
    generators: list[np.random.Generator],
    progress: Progress,
) -> Run:
    """Sample one problem, or with several priors one binary problem a class (one-vs-rest)."""
    n_classes = len(settings.classes_)
    runs = []
    for k, prior in enumerate(priors):
        several = len(priors) > 1
        model = Model(
            cost=float(settings.C),
            margin=float(settings.margin),
            intercept=bool(settings.fit_intercept),
            prior=prior,
            n_classes=2 if several else n_classes,
            own=k if several else None,
        )
        problem: Any = ShardedProblem(shards.cluster, shards, model)
        spawned = [rng.spawn(1)[0] for rng in generators]
        runs.append(sample(problem, sampler, spawned, settings.n_draws, None, progress))
    return joined(runs)


def calibrate_shards(shards: Shards, run: Run, settings: Any, rng: np.random.Generator) -> Link:
    """Probability link from leave-one-out scores of (at most 20,000) rows of all shards."""
    part = sample_rows(shards, MAX_ROWS, rng)
    weight = np.ones(len(part.label)) if part.weight is None else part.weight
    data = LinearData(part.values, part.label, weight, len(settings.classes_))
    return calibrate(data, run.weights, settings, rng)
