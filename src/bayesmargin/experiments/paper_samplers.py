"""The samplers of the paper's linear experiments, as it runs them, with grids for their steps."""

from collections.abc import Sequence

from bayesmargin.experiments.drawing import OURS
from bayesmargin.samplers import SSGLD, SSGNHT, AugmentationGibbs, AusterityMetropolis, Sampler
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.stochastic import StochasticSampler

PROPOSAL_DEVIATION = 0.1  # of SRWM: variance 0.01
ADAGRAD_STEPS = (0.03, 0.1, 0.3, 1.0, 3.0)
THERMOSTAT_STEPS = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
DECAY_STEPS = (1e-3, 3e-3, 1e-2, 3e-2)
DECAY_EXPONENTS = (1 / 6, 1 / 3, 1 / 2)


def adagrad(step: float, batch: int, lazy: bool = False) -> SSGLD:
    """SSGLD with AdaGrad in raw coordinates, no control variates.

    The scale takes in a gradient before the step that it serves: a first step without any scale
    would throw the chain far away. On sparse rows it is ``lazy``: a weight that no row has touched
    has a scale so large that an Euler step of its prior is unstable, and the exact flow is not.
    """
    return SSGLD(
        step=step,
        batch_size=batch,
        preconditioner="adagrad",
        control_variates=False,
        lagged=False,
        lazy=lazy,
    )


def decaying(step: float, exponent: float, batch: int) -> SSGLD:
    """SSGLD whose step decays polynomially, ``b = 1``."""
    return SSGLD(
        step=step,
        batch_size=batch,
        schedule="polynomial",
        exponent=exponent,
        preconditioner=None,
        control_variates=False,
    )


def thermostat(step: float, batch: int) -> SSGNHT:
    """SSGNHT by Euler steps in raw coordinates, no control variates."""
    return SSGNHT(
        step=step,
        batch_size=batch,
        integrator="euler",
        preconditioner=None,
        control_variates=False,
    )


def candidates(name: str, batch: int, sparse: bool) -> Sequence[StochasticSampler]:
    """Grid of one of the paper's stochastic samplers."""
    if name == "SSGLD":
        return [adagrad(step, batch, sparse) for step in ADAGRAD_STEPS]
    return [thermostat(step, batch) for step in THERMOSTAT_STEPS]


def untuned(batch: int) -> dict[str, Sampler]:
    """The samplers that have nothing to search: both baselines, and ours."""
    return {
        "SRWM": AusterityMetropolis(
            step=PROPOSAL_DEVIATION, preconditioner=None, batch_size=batch, burn_in=0, thin=1
        ),
        "Gibbs": AugmentationGibbs(form="joint", burn_in=0, thin=1),
        OURS: Auto(),
    }
