"""What the settings of a stochastic sampler say of chains that have run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.ensemble import Account
from bayesmargin.samplers.settings import StochasticSettings


@dataclass(frozen=True)
class StochasticAccount(Account):
    """Temperature, step and weights of draws that stochastic gradients have made.

    Attributes
    ----------
    settings : StochasticSettings
        Of the sampler.
    step : float
        Its first step.
    chains : sequence
        What it has moved.
    known : array or None
        Variances of the gradient of which the dynamics has been told.
    whitened : bool
        Whether positions have unit scale, so that the error of a step is known.
    """

    settings: StochasticSettings
    step: float
    chains: Sequence[Any]
    known: FloatArray | None = None
    whitened: bool = True

    @property
    def diffusion(self) -> float | None:
        """Where the thermostat is set; None: there is none."""
        found: float | None = getattr(self.settings, "diffusion", None)
        return found

    def temperature(self, noise: float, trace: FloatArray) -> float:
        """Effective temperature from the gradient noise and the trace."""
        settings = self.settings
        noise = noise * settings.mean_scale(self.chains)
        found = settings.temperature(self._last_step(), noise, trace, self.known)
        return found * (1.0 + self.step_error())

    def step_error(self) -> float:
        """Relative error of variances that the step alone is known to make."""
        return self.settings.step_error(self._last_step()) if self.whitened else 0.0

    def draw_weights(self, n_draws: int, thin: int) -> FloatArray | None:
        """Weights of the draws, when they are not equal."""
        return self.settings.draw_weights(self.step, self.chains, n_draws, thin)

    def _last_step(self) -> float:
        return self.settings.last_step(self.step, self.chains)
