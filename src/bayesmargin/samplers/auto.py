"""The default: the thermostat, and exact Hamiltonian Monte Carlo where it does not do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesmargin.running.ensemble import Ensemble
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.hamiltonian import SubgradientHMC
from bayesmargin.samplers.stochastic import TRAJECTORY
from bayesmargin.samplers.thermostat import SSGNHT
from bayesmargin.samplers.wide_start import is_wide
from bayesmargin.targets.problem import Problem


@dataclass(frozen=True)
class Auto(Sampler):
    """What ``sampler="auto"`` stands for; it has no settings.

    :class:`SSGNHT` with control variates in whitened coordinates reads a few hundred rows a step,
    whatever the number of rows. It needs a posterior that a Gaussian roughly describes. Where its
    own checks say otherwise (one class in a hundred rows, say, gives a wall on one side and a long
    tail on the other, in which most rows change state; the skewness of the draws shows it),
    :class:`SubgradientHMC` takes over: it reads all rows in reach, and its Metropolis test makes it
    exact. Of many rows it is the dearer one, and skewness has to be strong. Where kinks are sharp,
    so that leaps would be short, it crosses them where they lie, and takes over at once if steps of
    the thermostat, over nearly all rows, would take longer. More than 800
    features are the thermostat's alone, in scaled coordinates, where nearly every row is read at
    every step and long steps pay.

    The thermostat is integrated by ``"badodab"``. At the same step, a quarter, the symmetric
    splitting leaves the variances half a per cent too small.
    """

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Chains of the thermostat, with the exact sampler behind them."""
        ensemble = SSGNHT(integrator="badodab").start(problem, generators)
        if not is_wide(problem):
            exact = SubgradientHMC(
                crossing=ensemble.plan.slow or kinks_are_sharp(ensemble, problem.n_weights)
            )
            ensemble.remedies = replace(ensemble.remedies, fallback=exact)
        return ensemble


def kinks_are_sharp(ensemble: Ensemble, n_weights: int) -> bool:
    """Whether HMC does better to cross kinks than to leap over them.

    Leaps of a third of what turns a momentum round, and small enough in all directions together,
    keep the energy well enough. Crossing takes two passes' time for every kink.
    """
    rough = ensemble.info["roughness"]
    leaps = SubgradientHMC.length * max(3.0 * rough, np.sqrt(n_weights * rough))
    return bool(2.0 * (TRAJECTORY + ensemble.info["kinks_crossed"]) < leaps)
