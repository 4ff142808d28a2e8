"""What stays the same along a chain of minibatches."""

from typing import Any, NamedTuple

# A minibatch renews topic_step * (1 + t)^-TOPIC_DECAY of the topics, MOST at most. A model of one
# class against the rest finds the topics of its few documents later, and has to forget for longer.
TOPIC_DECAY, REST_DECAY, MOST = 0.85, 0.6, 0.9


class Settings(NamedTuple):
    """Model, and lengths of the steps."""

    hinge: Any
    n_topics: int
    n_words: int
    n_classes: int
    alpha: float
    beta: float
    prior_variance: float
    n_sweeps: int
    n_discarded: int
    topic_sampler: str
    topic_step: float
    topic_decay: float = TOPIC_DECAY
    follow_size: bool = False  # the step of the weights follows the size of the corpus
    batch_size: int | None = None  # of a whole minibatch: fewer documents make shorter steps

    def renewed(self, time: float) -> float:
        """Share of the topics that a minibatch renews; the first renews all of them."""
        if time == 0:
            return 1.0
        return min(self.topic_step * (1.0 + time) ** -self.topic_decay, MOST)
