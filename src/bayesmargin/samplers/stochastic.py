"""The stochastic subgradient samplers: SSGLD, SSGNHT, SGHMC.

They share the preparation (anchor, coordinates, batches) and differ in one line, the dynamics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bayesmargin.anchor import fit_anchor
from bayesmargin.anchor.gaussian import GaussianAnchor
from bayesmargin.anchor.rowstates import row_states
from bayesmargin.anchor.screening import SCREEN
from bayesmargin.anchor.targets import ROW_TYPE, PreparedTarget, anchored_target, plain_target
from bayesmargin.chains import Chain
from bayesmargin.problem import Problem
from bayesmargin.samplers.base import Ensemble, Sampler, require_choice, require_positive
from bayesmargin.samplers.friction import Friction
from bayesmargin.samplers.langevin import Langevin
from bayesmargin.samplers.thermostat import EulerThermostat, SymmetricThermostat
from bayesmargin.samplers.wide_start import is_wide, start_wide
from bayesmargin.state import initial_state
from bayesmargin.steps import AdaGrad, Constant, Polynomial, Preconditioner, RMSprop, Unscaled
from bayesmargin.target import workspace
from bayesmargin.types import FloatArray

SMOOTH = 1.2  # roughness up to which the default steps need no reduction
PRECONDITIONERS = ("hessian", "adagrad", "rmsprop", None)


@dataclass(frozen=True, kw_only=True)
class StochasticSampler(Sampler):
    """What the stochastic samplers have in common; see :class:`SSGNHT` for the parameters."""

    step: float | None = None
    batch_size: int | None = None
    control_variates: bool = True
    preconditioner: str | None = "hessian"
    burn_in: int | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step, batch_size=self.batch_size, thin=self.thin)
        require_choice("preconditioner", self.preconditioner, PRECONDITIONERS)
        if self.burn_in is not None and self.burn_in < 0:
            raise ValueError(f"burn_in={self.burn_in!r} is not allowed: it is 0 or more")
        if self.preconditioner != "hessian" and self.step is None:
            raise ValueError(
                f"preconditioner={self.preconditioner!r} needs a step: only the coordinates of "
                "preconditioner='hessian' have a scale that suits every data set"
            )

    def default_step(self) -> float:
        """Step in whitened coordinates, small enough for a bias below one per cent."""
        raise TypeError("a concrete sampler is needed")

    def relaxation(self, step: float) -> float:
        """Iterations in which a whitened coordinate forgets its value, about."""
        raise TypeError("a concrete sampler is needed")

    def dynamics(self, step: float, n_rows: int) -> Any:
        """Compiled dynamics for a given step."""
        raise TypeError("a concrete sampler is needed")

    def temperature(self, step: float, noise: float, trace: FloatArray) -> float:
        """Effective temperature, given the variance of the gradient estimate per coordinate."""
        raise TypeError("a concrete sampler is needed")

    @property
    def diffusion_level(self) -> float:
        """Where the thermostat of a new chain starts."""
        return 1.0

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Prepare the target and place one chain a generator on it."""
        if is_wide(problem):
            return start_wide(self, problem, generators)
        if not self.control_variates and self.preconditioner != "hessian":
            return self._place(problem, generators, None, 1.0)
        return self._place(problem, generators, fit_anchor(problem, generators[-1]), 1.0)

    def _prepare(
        self,
        problem: Problem,
        anchor: GaussianAnchor | None,
        shrink: float,
        rng: np.random.Generator,
    ) -> tuple[PreparedTarget, float]:
        """Target, and the step that suits it times ``shrink``."""
        batch_size = self.batch_size or default_batch_size(problem)
        if anchor is None:
            step = self.step or self.default_step()
            return plain_target(problem, batch_size, rng), shrink * step
        states = row_states(problem, anchor, SCREEN if self.control_variates else None)
        gentle = min(1.0, SMOOTH / max(states.roughness(), 1e-12))
        step = shrink * (self.step or self.default_step() * gentle)
        prepared = anchored_target(
            problem,
            anchor,
            states,
            batch_size,
            step,
            rng,
            control_variates=self.control_variates,
            whiten=self.preconditioner == "hessian",
        )
        return prepared, step

    def _place(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor | None,
        shrink: float,
    ) -> Ensemble:
        prepared, step = self._prepare(problem, anchor, shrink, generators[-1])
        dynamics = self.dynamics(step, problem.source.n_rows)
        chains = []
        for rng in generators[:-1]:
            start = rng.standard_normal(problem.n_weights)
            if self.preconditioner != "hessian":
                start = start * anchor.variances() ** 0.5 + anchor.mean if anchor else 0.0 * start
            state = initial_state(start, rng, self.diffusion_level)
            work = workspace(prepared.target, ROW_TYPE)
            chains.append(Chain(dynamics, prepared.target, state, work, rng))
        pace = self.relaxation(step) if self.preconditioner == "hessian" else 10.0

        def restart(positions: FloatArray | None, smaller: bool) -> Ensemble:
            moved = anchor
            if positions is not None and anchor is not None:
                moved = around(problem, anchor, prepared, positions)
            return self._place(problem, generators, moved, 0.5 * shrink if smaller else shrink)

        return Ensemble(
            chains=chains,
            weights=prepared.weights,
            thin=self.thin or max(1, round(0.5 * pace)),
            warmup=self.burn_in if self.burn_in is not None else max(50, round(50 * pace)),
            adaptive=self.thin is None and self.burn_in is None,
            info={
                "sampler": type(self).__name__,
                "step": step,
                "diffusion": getattr(self, "diffusion", None),
                "batch_size": int(prepared.target.strata.take.sum()),
                "rows_in_reach": prepared.n_rows_used,
                "predicted_gradient_noise": prepared.noise,
                "anchor_passes": anchor.iterations if anchor else 0,
            },
            target=prepared.target,
            temperature=partial(self.temperature, step),
            restart=restart if self.preconditioner == "hessian" else None,
            step_is_given=self.step is not None,
        )


def around(
    problem: Problem, anchor: GaussianAnchor, prepared: PreparedTarget, positions: FloatArray
) -> GaussianAnchor:
    """Anchor re-estimated from draws, whatever rotation the target used."""
    basis = getattr(prepared.coordinates, "basis", None)
    if anchor.factor.ndim == 2 and basis is not None:
        anchor = replace(anchor, factor=basis[0])
    moved = anchor.moved_by(positions)
    return replace(moved, iterations=anchor.iterations)


def default_batch_size(problem: Problem) -> int:
    """Rows a step: enough that gradient noise stays small beside the injected noise."""
    return max(16, 5 * problem.source.n_columns)


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
        (:mod:`bayesmargin.samplers.lazy`). Left out, wherever a batch reads less than half of the
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
        require_positive(offset=self.offset, freeze_after=self.freeze_after)
        if not 0.0 <= self.exponent <= 0.5:
            raise ValueError(f"exponent={self.exponent!r} is not allowed: it lies in [0, 0.5]")

    def default_step(self) -> float:
        """Euler steps inflate the variance by ``h^2/4``: one per cent at 0.2."""
        return 0.2

    def relaxation(self, step: float) -> float:
        """Langevin dynamics of unit curvature forgets in ``2/h^2`` iterations."""
        return 2.0 / step**2

    def temperature(self, step: float, noise: float, trace: FloatArray) -> float:
        """Gradient noise of variance V adds ``h^2 V / 4``."""
        return 1.0 + 0.25 * step**2 * noise

    def dynamics(self, step: float, n_rows: int) -> Langevin:
        """Compiled dynamics for a given step."""
        schedule = (
            Constant(float(step))
            if self.schedule == "constant"
            else Polynomial(float(step), float(self.offset), float(self.exponent))
        )
        never = np.iinfo(np.int64).max
        frozen = never if self.freeze_after is None else int(self.freeze_after)
        scale: Preconditioner = Unscaled()
        if self.preconditioner == "adagrad":
            scale = AdaGrad(freeze_after=frozen, lagged=self.lagged)
        elif self.preconditioner == "rmsprop":
            scale = RMSprop(freeze_after=frozen, lagged=self.lagged)
        return Langevin(schedule, scale, float(n_rows))


@dataclass(frozen=True, kw_only=True)
class SSGNHT(StochasticSampler):
    r"""Stochastic subgradient Nose-Hoover thermostat: a friction that absorbs gradient noise.

    Parameters
    ----------
    step : float, optional
        Step :math:`h`. Left out, 0.25 in whitened coordinates, less where kinks are coarse.
    integrator : {"ssi", "euler"}
        Symmetric splitting of second order, or the Euler scheme of the original papers.
    diffusion : float
        Injected noise :math:`A`; the mean of the thermostat when gradients are exact.
    batch_size, control_variates, preconditioner, burn_in, thin
        As for :class:`SSGLD`; ``preconditioner`` is ``"hessian"`` or None.

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
        require_choice("integrator", self.integrator, ("ssi", "euler"))
        require_choice("preconditioner", self.preconditioner, ("hessian", None))
        require_positive(diffusion=self.diffusion)

    @property
    def diffusion_level(self) -> float:
        """Where the thermostat of a new chain starts."""
        return self.diffusion

    def default_step(self) -> float:
        """Second order: 0.25; first order: a fifth of it."""
        return 0.25 if self.integrator == "ssi" else 0.05

    def relaxation(self, step: float) -> float:
        """Underdamped dynamics of unit curvature forgets in about ``2A/h`` iterations."""
        return 2.0 * max(self.diffusion, 1.0 / self.diffusion) / step

    def temperature(self, step: float, noise: float, trace: FloatArray) -> float:
        """The thermostat holds the kinetic temperature, whatever the noise."""
        return float(trace[..., 0].mean())

    def dynamics(self, step: float, n_rows: int) -> SymmetricThermostat | EulerThermostat:
        """Compiled dynamics for a given step."""
        kind = SymmetricThermostat if self.integrator == "ssi" else EulerThermostat
        return kind(float(step), float(self.diffusion))


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
