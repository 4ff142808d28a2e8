"""dpMNL as a model of blocks: how a chain begins, what is kept of it, and how it is taken up."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.assignments import log_partition
from bayesmargin.models.dpmnl.blocks import BLOCKS
from bayesmargin.models.dpmnl.chain import Chain, start_chain
from bayesmargin.models.dpmnl.prediction import Draw, take_draw
from bayesmargin.models.dpmnl.resolution import least_log_variances
from bayesmargin.models.mixtures.start import first_partition

MOVING = ("rng", "slots", "experts", "hyper", "sweeps")


class MixtureOfLogits(NamedTuple):
    """What the chains of one fit have in common."""

    X: FloatArray  #: standardised columns that are not constant
    labels: IntArray
    columns: IntArray  #: their numbers
    features: int  #: columns of the data
    classes: int
    clusters: int  #: that a chain starts from
    settings: dict[str, Any]  #: of a chain: step, leapfrogs, auxiliary, proposals

    @property
    def blocks(self) -> Any:
        """Assignments, splits and merges, then parameters."""
        return BLOCKS

    def begin(self, rng: np.random.Generator) -> Chain:
        """A chain at the partition of k-means."""
        partition = first_partition(self.X, self.clusters, int(rng.integers(2**31)))
        least = least_log_variances(self.X)
        return start_chain(
            rng, self.X, self.labels, partition, self.classes, **self.settings, narrowest=least
        )

    def traces(self, chain: Chain) -> dict[str, float]:
        """Components, what moved, and how probable the partition is."""
        state = (chain.X, chain.labels, chain.slots, chain.experts, chain.hyper)
        return {
            "components": int(chain.experts.size[0]),
            "partition": float(log_partition(*state)),
            "moved": float(np.mean(chain.slots != chain.before)),
            "accepted": chain.accepted,
        }

    def draw(self, chain: Chain) -> Draw:
        """The components in use and the base measure."""
        return take_draw(chain, self.columns, self.features)

    def moving(self, chain: Chain) -> dict[str, Any]:
        """What a sweep changes."""
        return {name: getattr(chain, name) for name in MOVING}

    def resume(self, moving: dict[str, Any]) -> Chain:
        """The chain that had this state."""
        return Chain(X=self.X, labels=self.labels, **self.settings, **moving)
