"""Settings of SSGNHT."""

from dataclasses import dataclass, replace
from typing import Any

from bayesmargin.dynamics.injection import injected
from bayesmargin.dynamics.thermostat import (
    CentredThermostat,
    EulerThermostat,
    SymmetricThermostat,
)
from bayesmargin.foundation.arguments import require_choice, require_positive
from bayesmargin.foundation.types import FloatArray
from bayesmargin.samplers.settings import STRIDE
from bayesmargin.samplers.stochastic import StochasticSampler

INTEGRATORS: dict[str, Any] = {
    "ssi": SymmetricThermostat,
    "badodab": CentredThermostat,
    "baoab": CentredThermostat,  # as it was called: without a thermostat the splitting is BAOAB
    "euler": EulerThermostat,
}
DEFAULT_STEPS = {SymmetricThermostat: 0.25, CentredThermostat: 0.25, EulerThermostat: 0.05}
WHOLE_STEP = 0.35  # of "badodab" with exact gradients, whose kicks grow with it
EASED = 0.6  # diffusion with them, which suits directions of half to twice the curvature
LONG_STEP = 0.7  # which "badodab" bears where nearly all rows are read


@dataclass(frozen=True, kw_only=True)
class SSGNHT(StochasticSampler):
    r"""Stochastic subgradient Nose-Hoover thermostat: a friction that absorbs gradient noise.

    Parameters
    ----------
    step : float, optional
        Step :math:`h`. Left out, 0.25 in whitened coordinates, less where kinks are coarse.
    integrator : {"ssi", "badodab", "euler"}
        Symmetric splitting of second order, the splitting whose positions are nearly exact for
        quadratic energies of many coordinates (``"baoab"`` is another name for it), or the Euler
        scheme of the original papers.
    diffusion : float
        Injected noise :math:`A`; the mean of the thermostat when gradients are exact. Where steps
        read all rows, 0.6 takes the place of one.
    preconditioner, freeze_after, lagged, batch_size, control_variates, burn_in, thin
        As for :class:`SSGLD`.

    Examples
    --------
    >>> from bayesmargin.samplers import SSGNHT
    >>> SSGNHT(integrator="euler", step=0.05).diffusion
    1.0
    """

    integrator: str = "ssi"
    diffusion: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("integrator", self.integrator, tuple(INTEGRATORS))
        require_positive(diffusion=self.diffusion)

    @property
    def diffusion_level(self) -> float:
        """Where the thermostat of a new chain starts."""
        return self.diffusion

    def default_step(self) -> float:
        """A quarter for the splittings; kinks and gradient noise forbid more, of either."""
        return DEFAULT_STEPS[INTEGRATORS[self.integrator]]

    def wide_step(self) -> float:
        """Default step of a wide problem before its kinks are looked at."""
        centred = INTEGRATORS[self.integrator] is CentredThermostat
        return STRIDE * LONG_STEP if centred else super().wide_step()

    def whole_step(self) -> float | None:
        """Longer than with batches, of which only kinks are left to forbid more."""
        return WHOLE_STEP if INTEGRATORS[self.integrator] is CentredThermostat else None

    def with_exact_gradients(self) -> "SSGNHT":
        """With less diffusion, unless it was chosen: there is no noise that it has to cover.

        A direction of curvature ``k`` forgets its value in a time of about ``A / k``, and its
        square in ``(A + k / A) / k``.
        """
        return replace(self, diffusion=EASED) if self.diffusion == 1.0 else self

    def relaxation(self, step: float) -> float:
        """Underdamped dynamics of unit curvature forgets in about ``2A/h`` iterations."""
        return 2.0 * max(self.diffusion, 1.0 / self.diffusion) / step

    def temperature(
        self, step: float, noise: float, trace: FloatArray, known: FloatArray | None = None
    ) -> float:
        """The thermostat holds the kinetic temperature, whatever the noise."""
        return float(trace[..., 0].mean())

    def dynamics(self, step: float, n_rows: int, noise: FloatArray | None = None) -> Any:
        """Compiled dynamics for a given step and gradient noise, whose mean is the thermostat's."""
        surplus = None if noise is None else noise - noise.mean()
        injection = injected(2.0 * self.diffusion * step, step, surplus)
        return INTEGRATORS[self.integrator](
            float(step), injection, self.scaling(), n_rows=float(n_rows)
        )
