"""Whether draws suffice and can be trusted, and the one warning when they cannot."""

import warnings
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayesmargin.diagnostics.bars import FEWEST_EFFECTIVE, TOLERATED_BIAS, TOLERATED_RHAT
from bayesmargin.diagnostics.convergence import (
    ESS_PER_CHAIN,
    Diagnostics,
    by_slices,
    rhat_and_bulk_ess,
    tail_ess,
)
from bayesmargin.diagnostics.stein import SteinCheck
from bayesmargin.errors import (
    BiasWarning,
    ConvergenceWarning,
    InterruptedWarning,
    StepSizeWarning,
)
from bayesmargin.foundation.threads import n_threads
from bayesmargin.foundation.types import FloatArray

MONITORED = 256  # coordinates whose R-hat and ESS are watched
FEWEST = 8  # draws a chain below which nothing can be said about convergence
DRAWS_PER_AXIS = 20  # below which principal axes are those of chance
TOLERATED_SINGLE_BIAS = 0.25  # in one direction of many, of which chance takes the worst
TOLERATED_STEP_ERROR = 0.05  # of variances, known beforehand; kinks add as much again
TOLERATED_SKEWNESS = 0.4  # up to which steps that suit a Gaussian suit both sides of a law
TOLERATED_UNEVENNESS = 0.016  # of the temperature, from tail to wall
STRONG_SKEWNESS = 0.8  # that no saving of time makes up for


def monitored(positions: FloatArray) -> FloatArray:
    """The coordinates that are watched: all, or an even selection of a wide model's."""
    size = positions.shape[-1]
    if size <= MONITORED:
        return positions
    return positions[..., np.linspace(0, size - 1, MONITORED).astype(int)]


def along_axes(draws: FloatArray) -> FloatArray:
    """Draws (chain, draw, weight) along the principal axes of their correlations.

    A row of huge cost is a wall close to which chains move slowly, and that they do so shows in the
    score of the row alone: every single weight is a sum in which directions that mix well prevail.
    Among weights in coordinates of their own, narrow directions lie along the last axes.
    """
    flat = draws.reshape(-1, draws.shape[-1])
    if len(flat) < DRAWS_PER_AXIS * flat.shape[1] or not np.isfinite(flat).all():
        return draws
    spread = flat.std(axis=0)
    scaled = (flat - flat.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    axes = np.linalg.eigh(scaled.T @ scaled)[1]
    return (scaled @ axes).reshape(draws.shape)


class Watched:
    """Positions of all chains, and how well they agree, computed at most once.

    Of ``raw`` positions, those that are weights, the principal axes are compared.
    """

    def __init__(self, positions: FloatArray, n_jobs: int | None, raw: bool = False) -> None:
        self.positions = positions
        self.enough = positions.shape[1] >= FEWEST
        self._coordinates = monitored(positions)
        if raw and self.enough:
            self._coordinates = along_axes(self._coordinates)
        self._threads = n_threads(n_jobs, len(positions))

    @cached_property
    def worst(self) -> tuple[float, float]:
        """Largest R-hat and smallest effective sample size of the bulk."""
        rhat, bulk = by_slices(rhat_and_bulk_ess, self._coordinates, self._threads)
        return float(rhat.max()), float(bulk.min())

    @cached_property
    def skewness(self) -> float:
        """Skewness of the coordinates, root mean square, less what as many normal draws show."""
        centred = self._coordinates - self._coordinates.mean(axis=(0, 1))
        square, cube = (np.mean(centred**power, axis=(0, 1)) for power in (2, 3))
        found = np.mean((cube / np.maximum(square, 1e-300) ** 1.5) ** 2)
        return float(np.sqrt(max(0.0, found - 6.0 / self.worst[1])))

    def tail(self) -> float:
        """Smallest effective sample size of the tails."""
        return float(by_slices(tail_ess, self._coordinates, self._threads).min())


def lacking(watched: Watched) -> str:
    """What the chains lack before they may stop: "agreement", "draws", or nothing ("")."""
    if not watched.enough:
        return ""
    rhat, bulk = watched.worst
    if not rhat < TOLERATED_RHAT:
        return "agreement"
    return "" if bulk > enough_draws(watched) else "draws"


def enough_draws(watched: Watched) -> float:
    """Effective draws in the worst coordinate that suffice."""
    n_chains, n_draws = watched.positions.shape[:2]
    return min(ESS_PER_CHAIN * n_chains, 0.25 * n_chains * n_draws)


def lopsided(watched: Watched, step: float, noise: float, cheap: bool = True) -> bool:
    """Whether the law is too skewed for a thermostat: a wall on one side, a tail on the other.

    A gradient estimate of variance ``noise`` warms by ``step * noise / 2`` where it is noisy, and
    one friction takes away the mean. Batches are noisy at a wall and silent in a tail, so the tail
    stays cold, by about that times the skewness. Where the law is more skewed still, steps cut the
    wall's corner even without noise. Either makes standard deviations two or three per cent too
    small, in all directions at once: less than the bias check can tell from chance. That is worth a
    second or two of HMC, where it is so ``cheap``, but not twenty times the time of a fit of many
    rows, which are biased less, too.
    """
    if not watched.enough:
        return False
    if not cheap:
        return bool(watched.skewness > STRONG_SKEWNESS)
    uneven = step * noise * watched.skewness > TOLERATED_UNEVENNESS
    return bool(uneven or watched.skewness > TOLERATED_SKEWNESS)


def diagnose(
    watched: Watched,
    trace: FloatArray,
    stein: SteinCheck,
    *,
    interrupted: bool,
    level: float | None,
    temperature: float,
    divergences: int,
    n_iterations: int,
    seconds: float,
    step_error: float = 0.0,
) -> Diagnostics:
    """Figures of a finished run; ``level`` is the thermostat's setting where there is one.

    ``step_error`` is what a step that the user chose is known to do to variances. Of a few weights
    no check could tell it from chance.
    """
    worst = bulk = tail = float("nan")
    if watched.enough:
        (worst, bulk), tail = watched.worst, watched.tail()
    converged = worst < TOLERATED_RHAT and bulk > FEWEST_EFFECTIVE * len(watched.positions)
    return Diagnostics(
        max_rhat=worst,
        min_bulk_ess=bulk,
        min_tail_ess=tail,
        temperature=temperature,
        thermostat_shift=float(trace[..., 1].mean()) - level if level is not None else 0.0,
        bias=stein.bias,
        divergences=divergences,
        n_iterations=n_iterations,
        seconds=seconds,
        converged=bool(converged),
        trustworthy=bool(
            converged
            and not biased(stein)
            and not interrupted
            and abs(step_error) <= TOLERATED_STEP_ERROR
        ),
        interrupted=interrupted,
    )


def contradicted(found: Diagnostics, contradiction: float) -> Diagnostics:
    """Figures of a run whose prior summarised earlier rows, and a warning if it cannot bear it.

    The summary, a Gaussian, is nearly right about the middle of the posterior before and wrong far
    out: rows of one class alone, say, leave a flat side on which a Gaussian is steep.
    """
    if contradiction == 0.0:
        return found
    warnings.warn(
        f"these rows move the mean of the weights by {contradiction:.1f} standard deviations of "
        "the posterior so far (root mean square), beyond what its summary by mean and covariance "
        "can say: mix the classes in every call of partial_fit, or fit all rows together",
        BiasWarning,
        stacklevel=3,
    )
    return replace(found, contradiction=contradiction, trustworthy=False)


def biased(stein: SteinCheck) -> bool:
    """Whether the bias check fails, on the whole or somewhere, by more than its error allows."""
    on_the_whole = abs(stein.bias) > TOLERATED_BIAS + 4.0 * stein.error
    return bool(np.isfinite(stein.error) and (on_the_whole or somewhere_biased(stein)))


def somewhere_biased(stein: SteinCheck) -> bool:
    """Whether the check fails in a single direction; six errors allow for draws that are alike."""
    return abs(stein.worst) > TOLERATED_SINGLE_BIAS + 6.0 * stein.worst_error


def warn_of(found: Diagnostics, stein: SteinCheck, interrupted: bool) -> None:
    """At most one warning, the most serious, in a sentence that says what to do."""
    message, category = "", UserWarning
    if interrupted:
        category = InterruptedWarning
        message = (
            "sampling was interrupted; the posterior holds the draws made so far "
            f"(worst R-hat {found.max_rhat:.3f}): fit again for a full run"
        )
    elif not found.converged:
        category = ConvergenceWarning
        advice = "increase n_draws, scale the features"
        if biased(stein) and stein.bias > 0.0:  # not only short but also far too wide
            advice = "use a smaller step, scale the features"
        message = (
            f"the chains have not converged (worst R-hat {found.max_rhat:.3f}, smallest ESS "
            f'{found.min_bulk_ess:.0f}): {advice}, or use sampler="auto"'
        )
        if np.isnan(found.max_rhat):
            message = (
                f"fewer than {FEWEST} draws a chain do not tell whether the chains have "
                "converged: increase n_draws"
            )
    elif not found.trustworthy:
        category = BiasWarning
        share = stein.bias if biased(stein) else found.temperature - 1.0
        off = f"variances are off by about {share:+.0%}"
        if somewhere_biased(stein):
            off = f"variance of a direction is off by about {stein.worst:+.0%}"
        message = (
            f"the sampled {off} (effective temperature {found.temperature:.2f}): use a smaller "
            'step or a larger batch_size, or sampler="auto"'
        )
    elif found.divergences:
        category = StepSizeWarning
        message = (
            f"the step was halved {found.divergences} time(s) because it was too large; the "
            "posterior can be used. Where features differ in scale, scaling them makes the fit "
            "faster"
        )
    if message:
        warnings.warn(message, category, stacklevel=6)
