"""Settings of SSGLD."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.dynamics.langevin import Langevin
from bayesmargin.dynamics.lazy import LazyState
from bayesmargin.dynamics.steps import (
    AdaGrad,
    Constant,
    Polynomial,
    Preconditioner,
    RMSprop,
    Schedule,
    Unscaled,
    step_sizes,
)
from bayesmargin.foundation.arguments import (
    require_choice,
    require_counts,
    require_flag,
    require_positive,
    require_real,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief
from bayesmargin.samplers.stochastic import StochasticSampler

WARMUP = 50.0  # relaxation times
TURNS = 50  # of the iteration that finds the pace of decaying steps
OF_PRIOR = 0.2  # of the prior's deviation that a step with a learned scale is long at most
SLOWEST = 100.0  # pace, in units of that of the first step, for which a run is planned


@dataclass(frozen=True, kw_only=True)
class SSGLD(StochasticSampler):
    r"""Stochastic subgradient Langevin dynamics.

    .. math:: w_{t+1} = w_t - \tfrac{h_t^2}{2} P_t\,g(w_t) + h_t P_t^{1/2}\nu_t

    Parameters
    ----------
    step : float, optional
        Step :math:`h` (drift :math:`h^2/2`, noise :math:`h`), in the coordinates of the
        preconditioner. Left out, 0.2 in whitened coordinates, less where kinks are coarse.
    schedule : {"constant", "polynomial"}
        Constant steps, or :math:`h_t = h (1 + t/b)^{-\gamma}` with ``offset`` :math:`b` and
        ``exponent`` :math:`\gamma`; draws are then weighted by :math:`h_t^2`.
    preconditioner : {"hessian", "adagrad", "rmsprop", None}
        Coordinates: whitened by the smoothed Hessian, or raw with a scale learned per weight, or
        raw.
    freeze_after : int, optional
        Iteration after which a learned scale no longer changes.
    lagged : bool
        Whether a step uses the scale from before its own gradient.
    batch_size : int, optional
        Rows a step. Left out, five times the number of columns.
    control_variates : bool
        Whether the gradient is corrected by the states of the rows at the anchor.
    burn_in, thin : int, optional
        Iterations discarded, and between draws. Left out, chosen from R-hat and ESS.
    lazy : bool, optional
        Sparse rows of many features and a Gaussian prior: whether a step moves only the weights
        that its batch reads and the others later, in one exact jump
        (:mod:`bayesmargin.dynamics.lazy`). Left out, wherever a batch reads less than half of the
        weights.

    Examples
    --------
    >>> from bayesmargin.samplers import SSGLD
    >>> SSGLD(step=0.01, preconditioner="adagrad", control_variates=False, batch_size=10).step
    0.01
    """

    schedule: str = "constant"
    offset: float = 1.0
    exponent: float = 1.0 / 6.0
    freeze_after: int | None = None
    lagged: bool = True
    lazy: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("schedule", self.schedule, ("constant", "polynomial"))
        require_positive(offset=self.offset)
        require_counts(freeze_after=self.freeze_after)
        require_flag("lagged", self.lagged)
        if self.lazy is not None:
            require_flag("lazy", self.lazy)
        require_real(exponent=self.exponent)
        if not 0.0 <= self.exponent <= 0.5:
            raise ValueError(f"exponent={self.exponent!r} is not allowed: it lies in [0, 0.5]")

    def default_step(self) -> float:
        """Euler steps inflate the variance by ``h^2/4``: one per cent at 0.2."""
        return 0.2

    def relaxation(self, step: float) -> float:
        """Langevin dynamics of unit curvature forgets in ``2/h^2`` iterations.

        Of decaying steps that of the last one of the warm-up counts, which is fifty times as long;
        where they decay too fast for any warm-up, that of the first.
        """
        first = pace = 2.0 / step**2
        if self.schedule == "constant":
            return pace
        for _ in range(TURNS):
            last = step_sizes(self._schedule(step), np.array([WARMUP * pace]))
            pace = 2.0 / float(last[0]) ** 2
        return pace if pace < SLOWEST * first else first

    def temperature(
        self, step: float, noise: float, trace: FloatArray, known: FloatArray | None = None
    ) -> float:
        """Gradient noise of variance V adds ``h^2 V / 4``."""
        return 1.0 + 0.25 * step**2 * noise

    def step_error(self, step: float) -> float:
        """Variance ``1/(1 - h^2/4)`` of a unit Gaussian, less one."""
        return step**2 / (4.0 - step**2) if step < 2.0 else np.inf

    def _schedule(self, step: float) -> Schedule:
        if self.schedule == "constant":
            return Constant(float(step))
        return Polynomial(float(step), float(self.offset), float(self.exponent))

    def last_step(self, step: float, chains: Sequence[Any]) -> float:
        """Step of the schedule at the chains' clock."""
        times = np.array([_iterations(chains[0])])
        return float(step_sizes(self._schedule(step), times)[0])

    def mean_scale(self, chains: Sequence[Any]) -> float:
        """Mean of ``1/(regularizer + sqrt(moment))``, one without a learned scale.

        Weights that no gradient has touched bring no noise, and their scales do not count.
        """
        scaling = self.dynamics(1.0, 1).preconditioner
        if isinstance(scaling, Unscaled):
            return 1.0
        moments = np.stack([chain.state.moment for chain in chains])
        touched = moments > 0.0
        scales = 1.0 / (scaling.regularizer + np.sqrt(moments))
        return float(np.sum(scales, where=touched) / max(1, np.count_nonzero(touched)))

    def draw_weights(
        self, step: float, chains: Sequence[Any]
    ) -> Callable[[int, int], FloatArray] | None:
        """Squares of the steps at which the draws were made, for decaying steps."""
        if self.schedule == "constant":
            return None

        def weights(n_draws: int, thin: int) -> FloatArray:
            last = _iterations(chains[0])
            times = last - thin * np.arange(n_draws)[::-1]
            return step_sizes(self._schedule(step), times) ** 2

        return weights

    def dynamics(self, step: float, n_rows: int, noise: FloatArray | None = None) -> Langevin:
        """Compiled dynamics for a given step; gradient noise is small beside what it injects."""
        schedule = self._schedule(step)
        never = np.iinfo(np.int64).max
        frozen = never if self.freeze_after is None else int(self.freeze_after)
        scale: Preconditioner = Unscaled()
        if self.preconditioner == "adagrad":
            scale = AdaGrad(freeze_after=frozen, lagged=self.lagged)
        elif self.preconditioner == "rmsprop":
            scale = RMSprop(freeze_after=frozen, lagged=self.lagged)
        return Langevin(schedule, scale, float(n_rows))

    def within_prior(self, dynamics: Langevin, step: float, prior: Belief) -> Langevin:
        """Learned scales end where steps are :data:`OF_PRIOR` of the prior's deviation.

        Of a weight that no row touches, or none has so far, the scale would be one over the
        regularizer, and Euler steps of its prior throw it away, farther each time.
        """
        learned = dynamics.preconditioner
        if isinstance(learned, Unscaled):
            return dynamics
        largest = (OF_PRIOR * prior.narrowest() / step) ** 2
        return dynamics._replace(preconditioner=learned._replace(largest=float(largest)))


def _iterations(chain: Any) -> float:
    """Iterations that a chain has made; the clock of a lazy one begins with its sums."""
    clock = chain.state.clock
    return float(clock[2] if isinstance(chain.state, LazyState) else clock[0])
