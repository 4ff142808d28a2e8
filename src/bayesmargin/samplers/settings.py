"""What users set of a stochastic subgradient sampler, and what it knows of its own dynamics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.dynamics.steps import (
    AdaGrad,
    Averaged,
    Preconditioner,
    RMSprop,
    Unscaled,
    mean_scale,
)
from bayesmargin.foundation.arguments import (
    require_choice,
    require_counts,
    require_flag,
    require_length,
    require_positive,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief
from bayesmargin.samplers.base import Sampler

PLACES, REPEATS = 16, 20  # positions at which gradient noise is measured, and batches at each
STRIDE = 0.85  # of the default step, whose bias is that of a posterior in one scale
PRECONDITIONERS = ("hessian", "adagrad", "rmsprop", "averaged", None)
LEARNED: dict[str | None, Any] = {"adagrad": AdaGrad, "rmsprop": RMSprop, "averaged": Averaged}
OF_PRIOR = 0.2  # of the prior's deviation that a step with a learned scale is long at most


@dataclass(frozen=True, kw_only=True)
class StochasticSettings(Sampler):
    """Settings and answers, from which others place the chains; see :class:`SSGLD`."""

    step: float | None = None
    batch_size: int | None = None
    control_variates: bool = True
    preconditioner: str | None = "hessian"
    freeze_after: int | None = None
    lagged: bool = True
    burn_in: int | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step)
        require_counts(batch_size=self.batch_size)
        require_length(self.burn_in, self.thin)
        require_choice("preconditioner", self.preconditioner, PRECONDITIONERS)
        require_flag("control_variates", self.control_variates)
        require_counts(freeze_after=self.freeze_after)
        require_flag("lagged", self.lagged)
        if self.preconditioner != "hessian" and self.step is None:
            raise ValueError(
                f"preconditioner={self.preconditioner!r} needs a step: only the coordinates of "
                "preconditioner='hessian' have a scale that suits every data set"
            )

    def default_step(self) -> float:
        """Step in whitened coordinates, small enough for a bias below one per cent."""
        raise TypeError("a concrete sampler is needed")

    def wide_step(self) -> float:
        """Default step of a wide problem before its kinks are looked at."""
        return STRIDE * self.default_step()

    def whole_step(self) -> float | None:
        """Default step where every step reads all rows, so that gradients are exact; None: no."""
        return None

    def with_exact_gradients(self) -> "StochasticSettings":
        """The sampler as it is where every step reads all rows."""
        return self

    def relaxation(self, step: float) -> float:
        """Iterations in which a whitened coordinate forgets its value, about."""
        raise TypeError("a concrete sampler is needed")

    def dynamics(self, step: float, n_rows: int, noise: FloatArray | None = None) -> Any:
        """Compiled dynamics for a given step, and ``noise`` the gradient's variances if known."""
        raise TypeError("a concrete sampler is needed")

    def noise_looks(self, n_values: int) -> tuple[int, int]:
        """Positions at which gradient noise is measured, and batches at each.

        A position costs a pass over the rows, ``n_values`` numbers.
        """
        return PLACES, REPEATS

    def typical_noise(self, noise: FloatArray) -> FloatArray:
        """Variances of the gradient estimate to reckon with, from those at some positions.

        What matters to a thermostat is where there is more and where less: the median over the
        positions tells, of which a wall spoils none but its own.
        """
        typical: FloatArray = np.median(noise, axis=0)
        return typical

    def scaling(self) -> Preconditioner:
        """Scale of every weight that the dynamics learns, if it does."""
        learned = LEARNED.get(self.preconditioner)
        if learned is None:
            return Unscaled()
        if self.freeze_after is None:
            return learned(lagged=self.lagged)
        return learned(freeze_after=int(self.freeze_after), lagged=self.lagged)

    def within_prior(self, dynamics: Any, step: float, prior: Belief) -> Any:
        """Learned scales end where steps are :data:`OF_PRIOR` of the prior's deviation.

        Of a weight that no row touches, or none has so far, the scale would be one over the
        regularizer, and Euler steps of its prior throw it away, farther each time.
        """
        scaling = self.scaling()
        if isinstance(scaling, Unscaled):
            return dynamics
        largest = float((OF_PRIOR * prior.narrowest() / step) ** 2)
        return dynamics._replace(scaling=scaling._replace(largest=largest))

    def temperature(
        self, step: float, noise: float, trace: FloatArray, known: FloatArray | None = None
    ) -> float:
        """Effective temperature, given the variance of the gradient estimate per coordinate.

        ``known`` are the variances of which the dynamics has been told.
        """
        raise TypeError("a concrete sampler is needed")

    def step_error(self, step: float) -> float:
        """Relative error of the variance that the step alone makes in a Gaussian of scale one."""
        return 0.0

    def last_step(self, step: float, chains: Sequence[Any]) -> float:
        """Step at which the chains have arrived, for schedules that change it."""
        return step

    def mean_scale(self, chains: Sequence[Any]) -> float:
        """Mean over weights of the scale that a preconditioner has learned."""
        scaling = self.scaling()
        if isinstance(scaling, Unscaled):  # the states of some dynamics learn nothing
            return 1.0
        return mean_scale(scaling, [chain.state.moment for chain in chains])

    def draw_weights(
        self, step: float, chains: Sequence[Any], n_draws: int, thin: int
    ) -> FloatArray | None:
        """Weights of draws made at unequal steps, from their number and spacing."""
        return None

    @property
    def diffusion_level(self) -> float:
        """Where the thermostat of a new chain starts."""
        return 1.0
