"""What a sampler is to the rest of the library: settings that can start chains on a problem."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from bayesmargin.foundation.settings import Settings
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.targets.problem import Problem


class Sampler(Settings, ABC):
    """Settings of a sampler; immutable, and independent of any data."""

    takes_all_classes: ClassVar[bool] = False
    """Whether the classes of one-vs-rest are sampled in one go however few columns there are."""

    @abstractmethod
    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Chains on ``problem``: one a generator but the last, which serves the preparation."""
