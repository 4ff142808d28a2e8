"""Settings of SGHMC."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.dynamics.friction import Friction
from bayesmargin.dynamics.injection import Alike, Balanced, injected
from bayesmargin.foundation.arguments import require_positive, require_real
from bayesmargin.foundation.types import FloatArray
from bayesmargin.samplers.stochastic import StochasticSampler

LOOKS, REPEATS = 64, 60  # positions at which noise is measured, and batches at each
PASSES = 1 << 24  # numbers that may be read for it
WALL = 1.5  # times the median by which a mean is believed


@dataclass(frozen=True, kw_only=True)
class SGHMC(StochasticSampler):
    r"""Stochastic gradient Hamiltonian Monte Carlo with fixed friction.

    Parameters
    ----------
    step : float, optional
        Step :math:`h`. Left out, 0.1 in whitened coordinates, less where kinks are coarse.
    friction : float
        Friction :math:`C`.
    noise_estimate : float, optional
        Estimate :math:`\hat B` of the diffusion by gradient noise, below ``friction``. Left out, it
        is measured for every whitened coordinate before the chains start, and 0 in raw ones.
    preconditioner, freeze_after, lagged, batch_size, control_variates, burn_in, thin
        As for :class:`SSGLD`.

    Examples
    --------
    >>> from bayesmargin.samplers import SGHMC
    >>> SGHMC(friction=2.0).friction
    2.0
    """

    friction: float = 1.0
    noise_estimate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(friction=self.friction)
        require_real(noise_estimate=self.noise_estimate)
        given = self.noise_estimate
        if given is not None and not 0.0 <= given < self.friction:
            raise ValueError(
                f"noise_estimate={given!r} is not allowed: it lies in "
                f"[0, friction={self.friction!r})"
            )

    def default_step(self) -> float:
        """First order in the step: half of the thermostat's."""
        return 0.1

    def relaxation(self, step: float) -> float:
        """Underdamped dynamics of unit curvature forgets in about ``2C/h`` iterations."""
        return 2.0 * max(self.friction, 1.0 / self.friction) / step

    def noise_looks(self, n_values: int) -> tuple[int, int]:
        """More of them where rows are few: an error of the level heats or cools all weights."""
        affordable = PASSES // max(1, n_values)
        return (LOOKS, REPEATS) if affordable >= LOOKS else super().noise_looks(n_values)

    def typical_noise(self, noise: FloatArray) -> FloatArray:
        r"""The mean over positions, but no more than one and a half times the median.

        A friction that is given does not find its level: what is left out heats by
        :math:`hV/(2C)`. Variances at positions are skewed, so that their median was 10 to 20% below
        the mean, which made the posterior of 1,500 rows 1 to 2% too wide.
        """
        middle = super().typical_noise(noise)
        typical: FloatArray = np.minimum(noise.mean(axis=0), WALL * middle)
        return typical

    def temperature(
        self, step: float, noise: float, trace: FloatArray, known: FloatArray | None = None
    ) -> float:
        """Gradient noise that the estimate leaves out heats by ``h V / (2 C)``."""
        wanted = 2.0 * step * self.friction
        taken = wanted - np.mean(np.square(self._injection(step, known).deviation))
        return float(1.0 + (step**2 * noise - taken) / wanted)

    def step_error(self, step: float) -> float:
        r"""Variance :math:`1/(1 - h^2/(4 - 2hC))` of a unit Gaussian, less one."""
        room = 4.0 - 2.0 * step * self.friction
        return step**2 / (room - step**2) if room > step**2 else np.inf

    def _injection(self, step: float, noise: FloatArray | None) -> Alike | Balanced:
        wanted = 2.0 * step * self.friction
        if self.noise_estimate is not None:
            return injected(wanted - 2.0 * step * self.noise_estimate, step, None)
        return injected(wanted, step, noise)

    def dynamics(self, step: float, n_rows: int, noise: FloatArray | None = None) -> Friction:
        """Compiled dynamics for a given step and gradient noise."""
        injection = self._injection(step, noise)
        return Friction(float(step), float(self.friction), injection, self.scaling(), float(n_rows))
