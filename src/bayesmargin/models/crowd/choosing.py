r"""Which cost of the hinge suits a crowd: that under which hidden votes are most probable.

A tenth of the votes is hidden, and the others are sampled under every candidate. A hidden vote x of
worker j for item i has the probability :math:`\sum_k P(y_i = k \mid \text{others})\,
\mathrm{E}\,\Phi_{jkx}`. No true label is looked at.
"""

from collections.abc import Sequence

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.models.crowd.draws import probabilities
from bayesmargin.models.crowd.model import Voting
from bayesmargin.models.crowd.votes import Votes, item_of, sorted_votes
from bayesmargin.running.checkpoint import NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps

COSTS = (0.1, 0.3, 1.0, 3.0)
HIDDEN = 10  #: one of so many votes
SWEEPS, CHAINS = 400, 2


def choose_cost(
    model: Voting, rng: np.random.Generator, n_jobs: int | None, costs: Sequence[float] = COSTS
) -> tuple[float, FloatArray]:
    """The best of some costs, and the mean log probability of hidden votes under each."""
    number = len(model.votes.label)
    hidden = rng.permutation(number) % HIDDEN == 0
    item = item_of(model.votes)
    seen = _some(model.votes, item, ~hidden)
    worker, label = model.votes.worker[hidden], model.votes.label[hidden]
    scores = []
    for cost in costs:
        chance, spoken = _sampled(model._replace(votes=seen, cost=cost), rng, n_jobs)
        said = (chance[item[hidden]] * spoken[worker, :, label]).sum(axis=1)
        scores.append(float(np.log(said).mean()))
    found = np.array(scores)
    return float(costs[int(found.argmax())]), found


def _some(votes: Votes, item: IntArray, kept: BoolArray) -> Votes:
    n_items = len(votes.start) - 1
    return sorted_votes(item[kept], votes.worker[kept], votes.label[kept], n_items)


def _sampled(
    model: Voting, rng: np.random.Generator, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Probabilities of labels, and mean matrices of workers."""
    burn_in = SWEEPS // 2
    chains = [Gibbs(model, one, burn_in, range(burn_in, SWEEPS, 2)) for one in rng.spawn(CHAINS)]
    if run_sweeps(chains, SWEEPS, n_jobs, NoCheckpoint(None), lambda sweeps: None):
        raise KeyboardInterrupt
    spoken = np.mean([np.exp(draw.spoken) for chain in chains for draw in chain.draws], axis=0)
    return probabilities(chains), spoken
