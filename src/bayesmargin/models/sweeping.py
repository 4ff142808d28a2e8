"""Estimators whose chains sweep over hidden variables: what they share from settings to verdict."""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from bayesmargin.foundation.arguments import require_choice, require_count, require_jobs
from bayesmargin.foundation.settings import require_only
from bayesmargin.models.mixtures.classifier import check_sweeps, kept_sweeps
from bayesmargin.models.mixtures.convergence import rhat_so_far
from bayesmargin.models.settings import SAMPLERS
from bayesmargin.models.settling import SweepDiagnostics, warn_if_unsettled
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.running.interrupts import warn_of_interrupt
from bayesmargin.running.progress import progress_for, require_verbosity


class Length(Protocol):
    """The part of a plan that says how long chains are."""

    @property
    def n_sweeps(self) -> int:
        """Sweeps of each chain."""

    @property
    def burn_in(self) -> int:
        """Sweeps before the first draw."""


class SweepingMixin:
    """Chains with a trace of their "hinge", run and judged."""

    n_draws: int
    n_jobs: int | None
    verbose: int
    _verdict: ClassVar[type[SweepDiagnostics]] = SweepDiagnostics

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit was completed."""
        return hasattr(self, "posterior_")

    @property
    def diagnostics_(self) -> Any:
        """What the fit says about itself; printed, it is a sentence."""
        figures = self.__dict__.get("diagnostics_")
        if figures is None:
            raise AttributeError(f"this {type(self).__name__} has no diagnostics_: fit it first")
        return self._verdict(figures)

    @diagnostics_.setter
    def diagnostics_(self, figures: Mapping[str, Any]) -> None:
        self.__dict__["diagnostics_"] = dict(figures)  # saved models hold it in this form

    def _sweep(
        self,
        models: Sequence[Any],
        generators: Sequence[np.random.Generator],
        plan: Length,
        checkpoint: Any,
        shown: int | None = None,
    ) -> tuple[list[Gibbs], bool]:
        """A chain for each of the models, and whether Ctrl-C has cut them short.

        Progress tells of the first ``shown`` of them.
        """
        keep = kept_sweeps(plan.n_sweeps, plan.burn_in, self.n_draws)
        chains = [
            Gibbs(model, rng, plan.burn_in, keep)
            for model, rng in zip(models, generators, strict=True)
        ]
        with progress_for(self.verbose) as progress:

            def show(sweeps: int) -> None:
                if progress.shown:
                    made = [chain.traces["hinge"][plan.burn_in :] for chain in chains[:shown]]
                    progress.update("sweep", sweeps, plan.n_sweeps, rhat_so_far(made))

            cut_short = run_sweeps(chains, plan.n_sweeps, self.n_jobs, checkpoint, show)
        return chains, cut_short

    def _warn(self, chains: Sequence[Gibbs], plan: Length, cut_short: bool) -> None:
        """Say that the fit was cut short, or that its chains have not settled."""
        if cut_short:
            self.diagnostics_ = {**self.diagnostics_, "interrupted": True}
            made = min(chain.sweeps for chain in chains)
            warn_of_interrupt(made, plan.n_sweeps, "sweeps", depth=2)
        else:
            warn_if_unsettled(self.diagnostics_, plan.n_sweeps - plan.burn_in)


def sampler_named(value: Any, names: Sequence[str]) -> Any:
    """The sampler of one of these names, or what else it is."""
    return SAMPLERS[value]() if isinstance(value, str) and value in names else value


def check_run(
    estimator: Any, names: Sequence[str], read: Mapping[Any, Sequence[str]], reader: str
) -> tuple[Any, int, int]:
    """Sampler, sweeps and burn-in; a clear error for what is not allowed of them and of the run.

    Parameters
    ----------
    names : sequence of str
        Samplers that there are, by name.
    read : mapping of classes to names of settings
        What the ``reader`` reads of each.
    """
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 1)
    require_jobs(estimator.n_jobs)
    require_verbosity(estimator.verbose)
    sampler = sampler_named(estimator.sampler, names)
    if type(sampler) not in read:
        require_choice("sampler", sampler, names)
    require_only(sampler, read[type(sampler)], reader)
    return (sampler, *check_sweeps(estimator.n_sweeps, sampler.burn_in))


def positive_pair(name: str, value: Any, meaning: str) -> tuple[float, float]:
    """A pair of positive numbers, of which one number stands for two.

    Examples
    --------
    >>> from bayesmargin.models.sweeping import positive_pair
    >>> positive_pair("prior_scale", 2, "it is a positive number or a pair of them")
    (2.0, 2.0)
    """
    pair = (value, value) if isinstance(value, numbers.Real) else value
    fine = isinstance(pair, tuple | list) and len(pair) == 2
    if not fine or not all(_is_positive(one) for one in pair):
        raise ValueError(f"{name}={value!r} is not allowed: {meaning}")
    return float(pair[0]), float(pair[1])


def _is_positive(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and 0.0 < float(value) < math.inf
