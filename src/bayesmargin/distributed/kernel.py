"""``BayesianSVC.fit`` on Dask collections: features are made where the rows lie."""

from typing import Any

import numpy as np

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.distributed.linear import labelled_shards, sample_shards
from bayesmargin.distributed.problem import sample_rows
from bayesmargin.distributed.sampler import distributed_sampler
from bayesmargin.distributed.shards import Shard
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.models.kernel.reading import dense_rows
from bayesmargin.models.kernel.settings import check_kernel_settings
from bayesmargin.models.kernel.streaming import require_columns
from bayesmargin.models.linear.calibrating import calibrate
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for


def fit_collection(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a :class:`BayesianSVC` to rows that lie on a cluster."""
    require_columns(model.kernel)
    sampler = distributed_sampler(check_kernel_settings(model), model.n_draws)
    shards = labelled_shards(model, X, y, sample_weight)
    digests = [] if model.checkpoint is None else shards.digests()
    with model._checkpointing(digests) as checkpoint:
        generators = spawn_generators(checkpoint.random_state, model.n_chains + 1)
        n_rows = int(shards.sizes.sum())
        part = sample_rows(shards, MAX_ROWS, generators[-1])
        values, place = dense_rows(part.values), np.arange(len(part.label))
        facts = (part.label, part.weights(), len(model.classes_))
        some = LinearData(values, *facts, n_all=n_rows, place=place)
        some = model._mapped(some, generators[-1])
        settings, priors = model._feature_settings(), model._feature_priors()
        together = 1 if len(priors) > 1 else model._n_blocks()
        sampler.check_size(model.map_.n_features + 1, together)
        counts = sum(shards.cluster.gather(shards.map("look", _counts, len(model.classes_))))
        shards.widen(featured, model.map_, n_columns=model.map_.n_features)
        with progress_for(model.verbose) as progress:
            journal = Journal(checkpoint)
            run = sample_shards(shards, priors, settings, sampler, generators, progress, journal)
        model.link_, model.left_out_ = calibrate(some, run.weights, settings)
        model._store(run, generators[-1])
        model._rest(np.asarray(counts, dtype=float))


def _counts(shard: Shard, n_classes: int) -> Any:
    """Weight of every class."""
    return np.bincount(shard.label, shard.weights(), n_classes)


def featured(shard: Shard, found: Any) -> Shard:
    """The same rows as features."""
    values = found.features(dense_rows(shard.values))[0]
    return Shard(values, shard.label, shard.weight)
