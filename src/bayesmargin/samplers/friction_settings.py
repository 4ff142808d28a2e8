"""Settings of SGHMC."""

from dataclasses import dataclass

from bayesmargin.samplers.base import require_choice, require_positive
from bayesmargin.samplers.friction import Friction
from bayesmargin.samplers.stochastic import StochasticSampler
from bayesmargin.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class SGHMC(StochasticSampler):
    r"""Stochastic gradient Hamiltonian Monte Carlo with fixed friction.

    Parameters
    ----------
    step : float, optional
        Step :math:`h`. Left out, 0.1 in whitened coordinates, less where kinks are coarse.
    friction : float
        Friction :math:`C`.
    noise_estimate : float
        Estimate :math:`\hat B` of the diffusion by gradient noise, below ``friction``.
    batch_size, control_variates, preconditioner, burn_in, thin
        As for :class:`SSGNHT`.

    Examples
    --------
    >>> from bayesmargin.samplers import SGHMC
    >>> SGHMC(friction=2.0).friction
    2.0
    """

    friction: float = 1.0
    noise_estimate: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("preconditioner", self.preconditioner, ("hessian", None))
        require_positive(friction=self.friction)
        if not 0.0 <= self.noise_estimate < self.friction:
            raise ValueError(
                f"noise_estimate={self.noise_estimate!r} is not allowed: it lies in "
                f"[0, friction={self.friction!r})"
            )

    def default_step(self) -> float:
        """First order in the step: half of the thermostat's."""
        return 0.1

    def relaxation(self, step: float) -> float:
        """Underdamped dynamics of unit curvature forgets in about ``2C/h`` iterations."""
        return 2.0 * max(self.friction, 1.0 / self.friction) / step

    def temperature(self, step: float, noise: float, trace: FloatArray) -> float:
        """Gradient noise that the estimate leaves out heats by ``h V / (2 C)``."""
        return 1.0 + (0.5 * step * noise - self.noise_estimate) / self.friction

    def dynamics(self, step: float, n_rows: int) -> Friction:
        """Compiled dynamics for a given step."""
        return Friction(float(step), float(self.friction), float(self.noise_estimate))
