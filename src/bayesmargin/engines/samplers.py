"""The samplers of the array engine: the settings of the others, placed on a device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.diagnostics.stein import SteinCheck
from bayesmargin.engines import noise, whitening
from bayesmargin.engines.ahead import compiled_ahead
from bayesmargin.engines.chains import watch_of
from bayesmargin.engines.crew import Crew, place_chains
from bayesmargin.engines.dynamics import (
    Chains,
    Langevin,
    Leapfrog,
    Thermostat,
    freedom,
    leapfrog_step,
)
from bayesmargin.engines.kept import ArrayDraws
from bayesmargin.engines.loading import Loaded, described, load, reader_of, supported
from bayesmargin.engines.memory import require_memory
from bayesmargin.engines.noise import batch_for
from bayesmargin.engines.programs import program
from bayesmargin.engines.streaming import Reader
from bayesmargin.engines.whitening import Shapes, Whitened, shapes_of, whiten
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.ensemble import Account, Carried, Ensemble, Plan, Remedies, View
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.hamiltonian import SubgradientHMC
from bayesmargin.samplers.langevin import SSGLD
from bayesmargin.samplers.thermostat import SSGNHT
from bayesmargin.samplers.wide import SmallerSteps
from bayesmargin.targets.problem import Problem

FEW_DIRECTIONS = 2000  # up to which exact trajectories stay short
LONG_STEP = 0.6  # of the thermostat in coordinates of unit scale, gradients without noise
QUIET = 0.3  # friction that answers the noise of a batch, at most, and for each column of the rows:
QUIET_COLUMN = 0.002  # a row kicks along itself, and more where its own score is far out
WARM = 0.01  # by which it may raise the temperature of Langevin dynamics
KICK = 0.3  # of the momentum by a kink of usual size: longer steps cut its corner
FIRST_STEP = 0.5  # of a leapfrog, before it is tuned
TUNING, TRIES = 12, 8  # rounds, and trajectories of each
SPACING = 0.5  # of the relaxation time, between draws
WARMUP = 25.0  # relaxation times


@dataclass(frozen=True)
class ArraySampler(Sampler):
    """Settings of a sampler whose chains run as one array on a device.

    Parameters
    ----------
    settings : Auto, SSGNHT, SSGLD or SubgradientHMC
        Auto is Hamiltonian Monte Carlo for up to 2000 weights and the thermostat beyond.
    dtype : {"float32", "bfloat16"}
        Of the rows on the device.
    """

    takes_all_classes: ClassVar[bool] = True

    settings: Sampler
    dtype: str = "float32"

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Load the rows, find the coordinates and place the chains."""
        refusal = supported(problem) or unknown(self.settings)
        if refusal:
            raise ValueError(f'engine="jax" cannot sample this: {refusal}. Use engine="numba"')
        rng, n_chains, dtype = generators[-1], len(generators) - 1, jnp.dtype(self.dtype)
        memory, streamed = require_memory(problem, n_chains, dtype)
        reader = reader_of(problem, n_chains, dtype, rng) if streamed else None
        shapes = shapes_of(described(problem, n_chains, dtype, reader))
        exact = self._exact(shapes)
        loaded = arrive(problem, shapes, exact, n_chains, rng, reader)
        whitened = whiten(loaded, rng)
        if exact:
            ensemble = start_leapfrog(self.settings, loaded, whitened, generators)
        else:
            langevin = isinstance(self.settings, SSGLD)
            start: Callable[..., Ensemble] = start_langevin if langevin else start_thermostat
            ensemble = start(self.settings, loaded, whitened, generators, 1.0)
        ensemble.info |= {"device_gigabytes": round(memory, 3), "rows_streamed": streamed}
        return ensemble

    def _exact(self, shapes: Shapes) -> bool:
        if isinstance(self.settings, Auto):
            return freedom(shapes.target, shapes.loaded.layout) <= FEW_DIRECTIONS
        return isinstance(self.settings, SubgradientHMC)


def arrive(
    problem: Problem,
    shapes: Shapes,
    exact: bool,
    n_chains: int,
    rng: np.random.Generator,
    reader: Reader | None,
) -> Loaded:
    """Rows on the device, and the programs that will read them compiled meanwhile."""
    more = [] if exact else noise.programs(shapes)
    with compiled_ahead([*whitening.programs(shapes), *more]):
        return load(problem, n_chains, shapes.loaded.rows.dtype, rng, reader)


def unknown(settings: Sampler) -> str:
    """Why the array engine does not know a sampler, in words; empty if it does."""
    if isinstance(settings, SSGNHT | SSGLD):
        name = type(settings).__name__
        if settings.preconditioner != "hessian" or getattr(settings, "lazy", None):
            return f"of {name} it knows steps of all weights in coordinates of the posterior alone"
        if getattr(settings, "integrator", "") == "euler":
            return "of SSGNHT it knows the splittings alone"
        if getattr(settings, "schedule", "constant") != "constant":
            return "of SSGLD it knows constant steps alone"
        return "" if settings.control_variates else "it samples with control variates alone"
    if isinstance(settings, SubgradientHMC):
        plain = isinstance(settings.mass, str) and settings.mass == "anchor"
        return "" if plain and not settings.crossing else "of HMC it knows mass='anchor' alone"
    if isinstance(settings, Auto):
        return ""
    return f"it knows no {type(settings).__name__}, but 'auto', 'ssgnht', 'ssgld', 'hmc'"


def start_thermostat(
    settings: Any,
    loaded: Loaded,
    whitened: Whitened,
    generators: Sequence[np.random.Generator],
    shrink: float,
) -> Ensemble:
    """Chains of the thermostat, with a step that looks at the kinks."""
    given = settings if isinstance(settings, SSGNHT) else SSGNHT()
    step = shrink * (given.step or gentle_step(whitened, LONG_STEP))
    dynamics = Thermostat(np.float32(step), np.float32(given.diffusion))
    quiet = min(QUIET, QUIET_COLUMN * loaded.n_columns)
    return start_stochastic(
        given,
        (loaded, whitened, generators),
        dynamics,
        bearable=2.0 * quiet / step,
        again=SmallerSteps(
            partial(start_thermostat, settings, loaded, whitened, generators), shrink
        ),
        account=partial(_Warm, level=given.diffusion),
        info={"sampler": "SSGNHT", "diffusion": given.diffusion},
    )


def start_langevin(
    given: SSGLD,
    loaded: Loaded,
    whitened: Whitened,
    generators: Sequence[np.random.Generator],
    shrink: float,
) -> Ensemble:
    """Chains of Langevin dynamics; the noise of batches is kept small beside their own."""
    step = float(shrink * (given.step or gentle_step(whitened, given.default_step())))

    return start_stochastic(
        given,
        (loaded, whitened, generators),
        Langevin(np.float32(step)),
        bearable=4.0 * WARM / step**2,
        again=SmallerSteps(partial(start_langevin, given, loaded, whitened, generators), shrink),
        account=partial(_Noisy, given=given, step=step),
        info={"sampler": "SSGLD"},
    )


def gentle_step(whitened: Whitened, longest: float) -> float:
    """A step that neither kinks nor the stiffest direction forbid."""
    gentle = min(longest, KICK / max(whitened.roughness, 1e-12))
    return float(gentle / np.sqrt(max(1.0, whitened.stiffness)))


def start_stochastic(
    given: SSGNHT | SSGLD,
    places: tuple[Loaded, Whitened, Sequence[np.random.Generator]],
    dynamics: Any,
    bearable: float,
    again: Remedies,
    account: Callable[[ArrayDraws], Account],
    info: dict[str, Any],
) -> Ensemble:
    """Chains that read batches, whose gradients have no more than the bearable variance."""
    loaded, whitened, generators = places
    step = float(dynamics.step)
    *chain_rngs, rng = generators
    layout, variance, each = batch_for(
        whitened, given.batch_size, step, bearable, rng, len(chain_rngs)
    )
    dynamics = dynamics.told(each)
    placed = replace(whitened, layout=layout)
    chains = place_chains(placed, chain_rngs, given.diffusion_level)
    crew = Crew(placed, dynamics, chains, watch_of(placed, loaded.n_rows, rng))
    pace = given.relaxation(step)
    plan = Plan(
        thin=given.thin or max(1, round(SPACING * pace)),
        warmup=given.burn_in if given.burn_in is not None else max(50, round(WARMUP * pace)),
        adaptive=given.thin is None and given.burn_in is None,
        step_is_given=given.step is not None,
    )
    facts = {"step": step, "batch_size": layout.batch or loaded.n_rows, **_facts(whitened)}
    draws = ArrayDraws(crew, variance, loaded.n_rows)
    return Ensemble(
        Carried(chains, crew),
        plan,
        View(of=draws, shared=draws, kept=draws),
        again,
        account(draws),
        info={**info, **facts},
    )


def start_leapfrog(
    settings: Any,
    loaded: Loaded,
    whitened: Whitened,
    generators: Sequence[np.random.Generator],
) -> Ensemble:
    """Chains of Hamiltonian Monte Carlo; a step that is not given is tuned here."""
    given = settings if isinstance(settings, SubgradientHMC) else SubgradientHMC()
    chains = place_chains(whitened, generators[:-1], 0.0)
    first = FIRST_STEP / np.sqrt(max(1.0, whitened.stiffness))
    dynamics = Leapfrog(*map(np.float32, (given.step or first, given.jitter, given.length)))
    if given.n_steps is not None:
        dynamics = dynamics._replace(length=given.n_steps * dynamics.step)
    crew = Crew(whitened, dynamics, chains, watch_of(whitened, loaded.n_rows, generators[-1]))
    if given.step is None:
        crew.dynamics = tuned(crew, given)
    step = float(crew.dynamics.step)
    plan = Plan(
        thin=given.thin or 1,
        warmup=given.burn_in if given.burn_in is not None else 50,
        adaptive=given.thin is None and given.burn_in is None,
        step_is_given=given.step is not None,
    )
    draws = ArrayDraws(crew, 0.0, loaded.n_rows)
    return Ensemble(
        Carried(chains, crew),
        plan,
        View(of=draws, shared=draws, kept=draws),
        account=_Accepted(draws, exact=True),
        info={
            "sampler": "SubgradientHMC",
            "step": step,
            "leapfrog_steps": max(1, round(float(crew.dynamics.length) / step)),
            "batch_size": loaded.n_rows,
            **_facts(whitened),
        },
    )


def tuned(crew: Crew, given: SubgradientHMC) -> Leapfrog:
    """The step at which as many trajectories are accepted as wished, by short runs."""
    dynamics, states = crew.dynamics, crew.states()
    target, layout = crew.whitened.target, crew.whitened.layout
    logs = []
    for k in range(TUNING):
        states, chance = _tries(dynamics, target, layout, states)
        off = float(np.mean(chance)) - given.target_acceptance
        log_step = np.log(float(dynamics.step)) + 2.0 * off / np.sqrt(1.0 + k)
        logs.append(log_step)
        length = given.n_steps * np.exp(log_step) if given.n_steps else given.length
        dynamics = dynamics._replace(step=np.float32(np.exp(log_step)), length=np.float32(length))
    step = float(np.exp(np.mean(logs[TUNING // 2 :])))
    crew.away = states
    length = given.n_steps * step if given.n_steps else given.length
    return dynamics._replace(step=np.float32(step), length=np.float32(length))


def _tries_of(dynamics: Leapfrog, target: Any, layout: Any, states: Chains) -> tuple[Chains, Any]:
    def once(_: Any, carried: tuple[Chains, Any]) -> tuple[Chains, Any]:
        states, total = carried
        states, _warmth = leapfrog_step(dynamics, target, layout, states)
        return states, total + states.friction / TRIES

    start = (states, jnp.zeros(states.friction.shape, jnp.float32))
    return jax.lax.fori_loop(0, TRIES, once, start)


_tries: Callable[..., Any] = program(_tries_of, static_argnames="layout")


def _facts(whitened: Whitened) -> dict[str, Any]:
    device = jax.devices()[0]
    return {
        "engine": "jax",
        "device": f"{device.platform} ({device.device_kind})",
        "roughness": whitened.roughness,
        "stiffness": whitened.stiffness,
        "anchor_passes": whitened.passes,
    }


@dataclass(frozen=True)
class _OnDevice(Account):
    draws: ArrayDraws

    def check(
        self, problem: Problem, view: View, positions: FloatArray, rng: np.random.Generator
    ) -> tuple[float, SteinCheck]:
        return self.draws.checks(positions, rng)


@dataclass(frozen=True)
class _Warm(_OnDevice):
    level: float

    @property
    def diffusion(self) -> float | None:
        return self.level

    def temperature(self, noise: float, trace: FloatArray) -> float:
        return float(trace[..., 0].mean())


@dataclass(frozen=True)
class _Noisy(_OnDevice):
    given: SSGLD
    step: float

    def temperature(self, noise: float, trace: FloatArray) -> float:
        return self.given.temperature(self.step, noise, trace) * (1.0 + self.step_error())

    def step_error(self) -> float:
        return self.given.step_error(self.step)


@dataclass(frozen=True)
class _Accepted(_OnDevice):
    def facts(self, trace: FloatArray) -> dict[str, Any]:
        return {"acceptance_rate": float(trace[..., 1].mean())}
