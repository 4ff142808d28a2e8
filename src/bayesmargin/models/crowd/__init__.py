"""Labels by many workers made into one: max-margin majority voting, and what it is measured by."""

from bayesmargin.models.crowd.baselines import dawid_skene, majority_vote, weighted_vote
from bayesmargin.models.crowd.voting import MaxMarginVoting

__all__ = ["MaxMarginVoting", "dawid_skene", "majority_vote", "weighted_vote"]
