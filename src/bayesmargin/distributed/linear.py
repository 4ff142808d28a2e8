"""``BayesianLinearSVC.fit`` on Dask collections."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.distributed.cluster import active_cluster
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem, sample_rows
from bayesmargin.distributed.sampler import DistributedSampler, distributed_sampler
from bayesmargin.distributed.shards import ProblemSettings
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.inputs.names import learn_columns
from bayesmargin.models.linear.fitting import LinearData, joined
from bayesmargin.models.settings import check_linear_settings
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress, progress_for
from bayesmargin.running.run import Run, sample


def labelled_shards(model: Any, X: Any, y: Any, sample_weight: Any) -> Shards:
    """Rows on the workers, classes by number; the model learns classes and columns."""
    parts, n_bytes = open_partitions(X, y, sample_weight)
    shards = Shards(active_cluster(), parts, n_bytes)
    check_classification_targets(shards.classes)
    model._set_classes(shards.classes)
    shards.encode(model.classes_)
    learn_columns(model, shards.n_columns, shards.names)
    return shards


def fit_collection(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a :class:`BayesianLinearSVC` to rows that lie on a cluster."""
    sampler = distributed_sampler(check_linear_settings(model), model.n_draws)
    shards = labelled_shards(model, X, y, sample_weight)
    priors = model._initial_priors(shards.n_columns)
    n_columns = shards.n_columns + int(model.fit_intercept)
    sampler.check_size(n_columns, 1 if len(priors) > 1 else model._n_blocks())
    digests = [] if model.checkpoint is None else shards.digests()
    with model._checkpointing(digests, priors) as checkpoint:
        generators = spawn_generators(checkpoint.random_state, model.n_chains + 1)
        with progress_for(model.verbose) as progress:
            journal = Journal(checkpoint)
            run = sample_shards(shards, priors, model, sampler, generators, progress, journal)
        part = sample_rows(shards, MAX_ROWS, generators[-1])
        rows = LinearData(
            part.values,
            part.label,
            part.weights(),
            len(model.classes_),
            n_all=int(shards.sizes.sum()),
        )
        model._store(run, rows, priors, generators[-1])


def sample_shards(
    shards: Shards,
    priors: list[Any],
    settings: Any,
    sampler: DistributedSampler,
    generators: list[np.random.Generator],
    progress: Progress,
    journal: Journal,
) -> Run:
    """Sample one problem, or with several priors one binary problem a class (one-vs-rest)."""
    n_classes = len(settings.classes_)
    runs = []
    for k, prior in enumerate(priors):
        several = len(priors) > 1
        model = ProblemSettings(
            cost=float(settings.C),
            margin=float(settings.margin),
            intercept=bool(settings.fit_intercept),
            prior=prior,
            n_classes=2 if several else n_classes,
            own=k if several else None,
        )
        problem: Any = ShardedProblem(shards.cluster, shards, model)
        spawned = [rng.spawn(1)[0] for rng in generators]
        run = sample(problem, sampler, spawned, settings.n_draws, None, progress, journal)
        runs.append(run)
    return joined(runs)
