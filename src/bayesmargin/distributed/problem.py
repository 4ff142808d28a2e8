"""A posterior whose rows lie on a cluster: sums over all of them, and samples from them."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.distributed.cluster import Cluster
from bayesmargin.distributed.partitions import Shards
from bayesmargin.distributed.shards import ProblemSettings, Shard, joined, sampled
from bayesmargin.foundation.random import spawn_seeds


@dataclass(frozen=True)
class ShardedProblem:
    """What :class:`bayesmargin.targets.problem.Problem` is for rows in memory."""

    cluster: Cluster
    shards: Shards
    model: ProblemSettings

    @property
    def is_binary(self) -> bool:
        """Whether one weight vector serves two classes."""
        return self.model.n_classes == 2

    @property
    def n_columns(self) -> int:
        """Columns of the design, the constant one included."""
        return self.shards.n_columns + int(self.model.intercept)

    @property
    def n_blocks(self) -> int:
        """Number of weight vectors: one for two classes, else one a class."""
        return 1 if self.is_binary else self.model.n_classes

    @property
    def n_weights(self) -> int:
        """Number of weights, intercepts included."""
        return self.n_columns * self.n_blocks

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return int(self.shards.sizes.sum())


def sample_rows(shards: Shards, count: int, rng: np.random.Generator) -> Shard:
    """Random rows of all shards, brought to the driver: how many from each is drawn first."""
    sizes = shards.sizes
    count = min(count, int(sizes.sum()))
    # Chances in place of numpy's hypergeometric law, which stops at a thousand million rows.
    share = np.minimum(rng.multinomial(count, sizes / sizes.sum()), sizes)
    if count == sizes.sum():
        share = sizes
    seeds = spawn_seeds(rng, len(sizes))
    handles = [
        shards.at(k, "sample", sampled, int(share[k]), seeds[k])
        for k in range(len(sizes))
        if share[k]
    ]
    return joined(shards.cluster.gather(handles))
