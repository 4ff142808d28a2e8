r"""Which cost of the hinge suits a crowd: the smallest that hidden votes do not speak against.

A tenth of the votes is hidden, and the others are sampled under every candidate. A hidden vote x of
worker j for item i has the probability :math:`\sum_k P(y_i = k \mid \text{others})\,
\mathrm{E}\,\Phi_{jkx}`. No true label is looked at.
It is no setting of ``MaxMarginVoting``: on the web set it chooses badly.

Few votes tell candidates apart badly. So it is not the best that is taken, but the smallest that is
worse than it by no more than one standard error of the difference (the rule of Breiman and others,
1984, for trees): a small cost leaves the probabilities least sure of themselves.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.models.crowd import MaxMarginVoting
from bayesmargin.models.crowd.draws import probabilities
from bayesmargin.models.crowd.model import Voting
from bayesmargin.models.crowd.reading import sorted_votes
from bayesmargin.models.crowd.settings import check_settings
from bayesmargin.models.crowd.votes import Votes, item_of
from bayesmargin.running.checkpoint import NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps

COSTS = (0.1, 0.3, 1.0, 3.0)
HIDDEN = 10  #: one of so many votes
SWEEPS, CHAINS = 400, 2


def choose_cost(
    model: Voting, rng: np.random.Generator, n_jobs: int | None, costs: Sequence[float] = COSTS
) -> tuple[float, FloatArray]:
    """The cost to take of some, increasing, and log probabilities of hidden votes under each."""
    number = len(model.votes.label)
    hidden = rng.permutation(number) % HIDDEN == 0
    item = item_of(model.votes)
    seen = _some(model.votes, item, ~hidden)
    worker, label = model.votes.worker[hidden], model.votes.label[hidden]
    said = np.empty((len(costs), int(hidden.sum())))
    for place, cost in enumerate(costs):
        chance, spoken = _sampled(model._replace(votes=seen, cost=cost), rng, n_jobs)
        said[place] = np.log((chance[item[hidden]] * spoken[worker, :, label]).sum(axis=1))
    return float(costs[smallest_good(said)]), said


def smallest_good(said: FloatArray) -> int:
    """The first row whose mean is within a standard error of the best row's.

    Examples
    --------
    >>> import numpy as np
    >>> from crowds_hidden_votes import smallest_good
    >>> smallest_good(np.array([[-3.0, -3.1], [-1.0, -1.2], [-1.1, -1.0]]))
    1
    """
    best = said[said.mean(axis=1).argmax()]
    lost = best - said
    error = lost.std(axis=1) / np.sqrt(max(1, said.shape[1]))
    return int(np.flatnonzero(lost.mean(axis=1) <= error)[0])


def cost_for(labels: Any, seed: int) -> float:
    """The cost for a table of votes."""
    estimator = MaxMarginVoting()
    model = estimator._read(labels, None, check_settings(estimator))
    return choose_cost(model, np.random.default_rng(seed), 1)[0]


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
