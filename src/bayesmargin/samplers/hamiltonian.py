"""Settings of the exact gradient-based samplers: SubgradientHMC and LangevinMC."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.dynamics.crossing import Crossing, crossing_dynamics
from bayesmargin.dynamics.hamiltonian import Hamiltonian
from bayesmargin.foundation.arguments import (
    require_counts,
    require_flag,
    require_positive,
    require_real,
)
from bayesmargin.samplers.hamiltonian_chains import HamiltonianSampler
from bayesmargin.targets.rows import Target


@dataclass(frozen=True, kw_only=True, eq=False)
class SubgradientHMC(HamiltonianSampler):
    r"""Hamiltonian Monte Carlo with subgradients and the Metropolis test; exact.

    Parameters
    ----------
    step : float, optional
        Step :math:`h` of the leapfrog integrator in the coordinates of the mass. Left out, it is
        tuned in the warm-up by dual averaging.
    length : float
        Time a trajectory lasts, about a quarter of a period of a unit Gaussian by default.
    n_steps : int, optional
        Leapfrog steps a trajectory, instead of ``length``.
    jitter : float
        Steps are drawn uniformly within this share of :math:`h`, so that no period is hit for ever.
    crossing : bool
        Whether kinks are crossed exactly where they lie. Steps are then as long as trajectories
        however sharp the kinks are, and each kink crossed costs a pass over the rows: the way out
        where costs are so large that leaps would be tiny.
    mass : {"anchor", "dense", "diagonal", "identity"} or array
        Mass matrix: the inverse covariance of the Gaussian anchor (found before sampling and
        corrected in the warm-up); the inverse of the dense or diagonal covariance of warm-up
        draws; the identity; or a given diagonal or matrix.
    target_acceptance : float
        Acceptance rate at which the tuning aims.
    burn_in, thin : int, optional
        Iterations discarded, and between draws. Left out, chosen from R-hat and ESS.

    Examples
    --------
    >>> from bayesmargin.samplers import SubgradientHMC
    >>> SubgradientHMC(mass="diagonal", n_steps=10).target_acceptance
    0.8
    """

    length: float = 1.5
    n_steps: int | None = None
    jitter: float = 0.2
    crossing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(length=self.length)
        require_counts(n_steps=self.n_steps)
        require_real(jitter=self.jitter)
        require_flag("crossing", self.crossing)
        if not 0.0 <= self.jitter < 1.0:
            raise ValueError(f"jitter={self.jitter!r} is not allowed: it lies in [0, 1)")

    def dynamics(self, target: Target, within: float = np.inf) -> Hamiltonian | Crossing:
        """Compiled dynamics of one chain."""
        leaping = Hamiltonian(
            float(self.length),
            int(self.n_steps or 0),
            float(self.jitter),
            float(self.target_acceptance),
        )
        return crossing_dynamics(target, leaping, within) if self.crossing else leaping


@dataclass(frozen=True, kw_only=True, eq=False)
class LangevinMC(HamiltonianSampler):
    r"""Langevin proposals with the Metropolis test (MALA): Hamiltonian Monte Carlo of one step.

    .. math:: w' = w - \tfrac{h^2}{2} M^{-1} \partial U(w) + h M^{-1/2} \nu

    Parameters
    ----------
    step, mass, burn_in, thin
        As for :class:`SubgradientHMC`.
    target_acceptance : float
        Acceptance rate at which the tuning aims; 0.574 is best for many weights.

    Examples
    --------
    >>> from bayesmargin.samplers import LangevinMC
    >>> LangevinMC(step=0.5).mass
    'anchor'
    """

    target_acceptance: float = 0.574

    def proposed_thin(self, n_weights: int) -> int:
        """Langevin proposals forget in about ``n^(1/3)`` iterations."""
        return max(1, round(n_weights ** (1.0 / 3.0)))

    def dynamics(self, target: Target, within: float = np.inf) -> Hamiltonian | Crossing:
        """Compiled dynamics of one chain."""
        return Hamiltonian(0.0, 1, 0.0, float(self.target_acceptance))
