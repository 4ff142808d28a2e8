"""The blocks of a sweep of dpMNL."""

import numpy as np

from bayesmargin.models.dpmnl.assignments import sweep_assignments
from bayesmargin.models.dpmnl.chain import Chain, update_parameters
from bayesmargin.models.dpmnl.split_merge import split_merge


class Assignments:
    """Components of the rows, by Neal's Algorithm 8."""

    name = "assignments"

    def update(self, chain: Chain, learning: bool) -> None:
        """Visit every row."""
        begin, chain.before = 0, chain.slots.copy()
        while True:
            begin = sweep_assignments(
                chain.rng, chain.X, chain.labels, chain.slots, chain.experts, chain.hyper,
                begin, chain.auxiliary,
            )  # fmt: skip
            if begin == len(chain.labels):
                break
            chain.make_room()


class SplitMerge:
    """Components of many rows at once."""

    name = "split_merge"

    def update(self, chain: Chain, learning: bool) -> None:
        """Make some proposals."""
        for _ in range(chain.proposals):
            if chain.experts.size[0] == len(chain.experts.population):
                chain.make_room()
            state = (chain.X, chain.labels, chain.slots, chain.experts, chain.hyper)
            split_merge(chain.rng, *state, chain.sides)


class Parameters:
    """Covariates, logits, what they share and their scales; then the base measure."""

    name = "parameters"

    def update(self, chain: Chain, learning: bool) -> None:
        """Move all of them once; each fifth HMC step is doubled."""
        chain.sweeps += 1
        step = chain.step * (2.0 if chain.sweeps % 5 == 0 else 1.0)
        accepted = update_parameters(
            chain.rng, chain.X, chain.labels, chain.slots, np.argsort(chain.slots, kind="stable"),
            chain.experts, chain.hyper, step, chain.leapfrogs,
        )  # fmt: skip
        chain.accepted = accepted / int(chain.experts.size[0])


BLOCKS = (Assignments(), SplitMerge(), Parameters())
