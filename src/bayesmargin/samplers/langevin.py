"""Settings of SSGLD."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.dynamics.langevin import Langevin
from bayesmargin.dynamics.lazy import LazyState
from bayesmargin.dynamics.steps import (
    Constant,
    Polynomial,
    Schedule,
    step_sizes,
)
from bayesmargin.foundation.arguments import (
    require_choice,
    require_flag,
    require_positive,
    require_real,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.samplers.stochastic import StochasticSampler

WARMUP = 50.0  # relaxation times
TURNS = 50  # of the iteration that finds the pace of decaying steps
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
    preconditioner : {"hessian", "adagrad", "rmsprop", "averaged", None}
        Coordinates: whitened by the smoothed Hessian, or raw with a scale learned per weight from
        its gradients (:mod:`bayesmargin.dynamics.steps`), or raw.
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
    lazy: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("schedule", self.schedule, ("constant", "polynomial"))
        require_positive(offset=self.offset)
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

    def draw_weights(
        self, step: float, chains: Sequence[Any], n_draws: int, thin: int
    ) -> FloatArray | None:
        """Squares of the steps at which the draws were made, for decaying steps."""
        if self.schedule == "constant":
            return None
        last = _iterations(chains[0])
        times = last - thin * np.arange(n_draws)[::-1]
        return step_sizes(self._schedule(step), times) ** 2

    def dynamics(self, step: float, n_rows: int, noise: FloatArray | None = None) -> Langevin:
        """Compiled dynamics for a given step; gradient noise is small beside what it injects."""
        return Langevin(self._schedule(step), self.scaling(), float(n_rows))


def _iterations(chain: Any) -> float:
    """Iterations that a chain has made; the clock of a lazy one begins with its sums."""
    clock = chain.state.clock
    return float(clock[2] if isinstance(chain.state, LazyState) else clock[0])
