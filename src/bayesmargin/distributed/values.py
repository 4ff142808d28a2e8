"""``fit`` of linear regressions on Dask collections: values in place of classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.distributed.cluster import active_cluster
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem, sample_rows
from bayesmargin.distributed.sampler import distributed_sampler
from bayesmargin.distributed.shards import Shard, counted
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.inputs.names import learn_columns
from bayesmargin.inputs.values import plain_values
from bayesmargin.models.linear.fitting import LinearData, joined
from bayesmargin.models.regression.sampling import Head, problem_of, scaled
from bayesmargin.models.regression.units import Units, units_of
from bayesmargin.priors.moments import Belief
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import sample
from bayesmargin.targets.problem import Problem


@dataclass(frozen=True)
class ValueModel:
    """The posterior of a score, in units of the values and without its rows."""

    head: Head
    units: Units
    intercept: bool
    n_classes: int = 2
    """One score a row, as two classes have."""

    @property
    def prior(self) -> Belief:
        """That of the weights in these units."""
        return self.units.prior(self.head.prior, self.intercept)

    def problem(self, shard: Shard, factor: float = 1.0) -> Problem:
        """The posterior of the rows of a shard, each counted ``factor`` times."""
        data = LinearData(shard.values, shard.label, factor * shard.weights(), 1)
        inside = scaled(self.head.likelihood, self.units.size)
        return problem_of(self.head, data, self.units, inside, self.intercept)


def fit_values(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a linear regression to rows that lie on a cluster.

    What "auto" stands for, and the units of the values, are learned from some of the rows.
    """
    sampler = distributed_sampler(model._checked_settings(), model.n_draws)
    parts, n_bytes = open_partitions(X, y, sample_weight)
    shards = Shards(active_cluster(), parts, n_bytes)
    shards.recode(valued)
    learn_columns(model, shards.n_columns, shards.names)
    sampler.check_size(shards.n_columns + int(model.fit_intercept), 1)
    digests = [] if model.checkpoint is None else shards.digests()
    with model._checkpointing(digests) as checkpoint:
        generators = spawn_generators(checkpoint.random_state, model.n_chains + 1)
        part = sample_rows(shards, MAX_ROWS, generators[-1])
        n_all = int(shards.sizes.sum())
        rows = LinearData(part.values, part.label, np.array(part.weights()), 1, n_all=n_all)
        own = [units_of(rows.label, rows.weight)]
        heads = model._heads(rows, own, generators[-1])
        runs, journal = [], Journal(checkpoint)
        units = model._sampled_in(own, further=False)[0]
        with progress_for(model.verbose) as progress:
            for head in heads:
                value_model: Any = ValueModel(head, units, bool(model.fit_intercept))
                problem: Any = ShardedProblem(shards.cluster, shards, value_model)
                spawned = [rng.spawn(1)[0] for rng in generators]
                run = sample(problem, sampler, spawned, model.n_draws, None, progress, journal)
                runs.append(units.outside(run, model.fit_intercept))
    model._conclude(joined(runs), rows, heads, own, generators[-1])


def valued(shard: Shard) -> Shard:
    """The rows that count, with values in double precision."""
    shard = counted(shard)
    return Shard(shard.values, plain_values(shard.label), shard.weight)
