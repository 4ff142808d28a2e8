"""What chains of sweeps say about themselves: figures by name, a sentence when printed, a warning.

Traces are of quantities that do not depend on how hidden variables are numbered.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesmargin.diagnostics.figures import CUT_SHORT, Figures
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.mixtures.convergence import (
    FEWEST_ACCEPTED,
    WORST_RHAT,
    settled,
    trace_report,
)
from bayesmargin.running.gibbs import Gibbs

FEWEST_TO_JUDGE = 50


class SweepDiagnostics(Figures):
    """Figures of the chains: a dictionary that can judge and print itself.

    Each quantity has its "mean", "r_hat" and "effective_draws".

    Examples
    --------
    >>> from bayesmargin.models.settling import SweepDiagnostics
    >>> figures = {"mean": 4.0, "r_hat": 1.01, "effective_draws": 900.0}
    >>> print(SweepDiagnostics({"hinge": figures, "n_chains": 4}))
    The chains can be trusted (worst R-hat 1.010, of the hinge).
    """

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by the user."""
        return bool(self.get("interrupted", False))

    @property
    def stuck(self) -> str:
        """Why draws should not be trusted whatever the R-hats are; empty where nothing speaks.

        Where weights move by trajectories, "accepted" is the share of these.
        """
        accepted = self.get("accepted", 1.0)
        if accepted >= FEWEST_ACCEPTED:
            return ""
        share = 100.0 * accepted
        return f"The weights hardly move, {share:.0f}% accepted, and should NOT be trusted."

    @property
    def trustworthy(self) -> bool | None:
        """Whether every quantity has settled in a run that was not cut short; None: too short."""
        if not self.quantities:
            return None
        good = all(settled(part, self["n_chains"]) for part in self.quantities.values())
        return good and not self.stuck and not self.interrupted

    @property
    def worst(self) -> str:
        """The quantity with the largest R-hat."""
        rhats = {name: part["r_hat"] for name, part in self.quantities.items()}
        return max(rhats, key=lambda name: -math.inf if math.isnan(rhats[name]) else rhats[name])

    def __str__(self) -> str:
        if not self.quantities:
            return "No convergence check applies: too few sweeps were kept."
        name = self.worst
        figures = f"worst R-hat {self[name]['r_hat']:.3f}, of the {name}"
        if self.interrupted:
            return f"{CUT_SHORT} ({figures})."
        if self.stuck:
            return self.stuck
        if self.trustworthy:
            return f"The chains can be trusted ({figures})."
        fewest = min(part["effective_draws"] for part in self.quantities.values())
        return (
            f"The chains have NOT settled: increase n_sweeps ({figures}; {fewest:.0f} effective "
            "sweeps at least)."
        )


def figures_of(
    chains: Sequence[Gibbs], length: int, watched: Sequence[str], averaged: Sequence[str] = ()
) -> dict[str, Any]:
    """Figures of the ``watched`` traces of so many sweeps of each chain, and means of others."""
    found = [name for name in watched if name in chains[0].traces]
    traces = {name: np.array([chain.kept(name)[:length] for chain in chains]) for name in found}
    means = {
        name: float(np.mean([chain.kept(name)[:length].mean() for chain in chains]))
        for name in averaged
    }
    return {**trace_report(traces), **means, "n_chains": len(chains)}


def warn_if_unsettled(found: SweepDiagnostics, sweeps: int) -> None:
    """Say that chains are plainly somewhere else, or still on their way.

    ``sweeps`` are those after burn-in; of a few nobody expects that.
    """
    if not found.quantities or sweeps < FEWEST_TO_JUDGE:
        return
    if found[found.worst]["r_hat"] > WORST_RHAT or found.stuck:
        warnings.warn(str(found), ConvergenceWarning, stacklevel=4)


def intervals(draws: Mapping[str, FloatArray], probability: float) -> dict[str, FloatArray]:
    """Means and central intervals of draws (first axis) by name, as columns of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.settling import intervals
    >>> list(intervals({"weight": np.zeros((9, 2))}, 0.9))
    ['weight', 'weight 5%', 'weight 95%']
    """
    columns: dict[str, FloatArray] = {}
    for name, values in draws.items():
        columns[name] = values.mean(axis=0)
        for end in (0.5 - 0.5 * probability, 0.5 + 0.5 * probability):
            columns[f"{name} {100.0 * end:g}%"] = np.quantile(values, end, axis=0)
    return columns
