"""What a vote says about itself: figures by name, a sentence when printed, and one warning."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.diagnostics.figures import CUT_SHORT, Figures
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.mixtures.convergence import (
    FEWEST_ACCEPTED,
    WORST_RHAT,
    settled,
    trace_report,
)
from bayesmargin.running.gibbs import Gibbs

FEWEST_TO_JUDGE = 50
WATCHED = ("hinge", "weight", "votes")


class VotingDiagnostics(Figures):
    """Figures of the chains: a dictionary that can judge and print itself.

    "hinge" is the energy of the weights, "weight" their mean, "votes" the log probability of the
    votes given matrices and labels: each has its "mean", "r_hat" and "effective_draws". "changed"
    is the share of labels that a sweep changes, "accepted" that of the trajectories of the weights.

    Examples
    --------
    >>> from bayesmargin.models.crowd.diagnostics import VotingDiagnostics
    >>> found = VotingDiagnostics({"hinge": {"mean": 4.0, "r_hat": 1.01, "effective_draws": 900.0},
    ...                            "changed": 0.1, "accepted": 0.8, "n_chains": 4})
    >>> print(found)
    The chains can be trusted (worst R-hat 1.010, of the hinge).
    """

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by the user."""
        return bool(self.get("interrupted", False))

    @property
    def trustworthy(self) -> bool | None:
        """Whether every quantity has settled in a run that was not cut short; None: too short."""
        if not self.quantities:
            return None
        good = all(settled(part, self["n_chains"]) for part in self.quantities.values())
        return good and self["accepted"] >= FEWEST_ACCEPTED and not self.interrupted

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
        if self["accepted"] < FEWEST_ACCEPTED:
            share = 100.0 * self["accepted"]
            return f"The weights hardly move, {share:.0f}% accepted, and should NOT be trusted."
        if self.trustworthy:
            return f"The chains can be trusted ({figures})."
        fewest = min(part["effective_draws"] for part in self.quantities.values())
        return (
            f"The chains have NOT settled: increase n_sweeps ({figures}; {fewest:.0f} effective "
            "sweeps at least)."
        )


def diagnose(chains: Sequence[Gibbs], length: int) -> VotingDiagnostics:
    """Figures of the traces of so many sweeps of each chain."""
    watched = [name for name in WATCHED if name in chains[0].traces]
    traces = {name: np.array([chain.kept(name)[:length] for chain in chains]) for name in watched}
    found: dict[str, Any] = dict(trace_report(traces))
    for name in ("changed", "accepted"):
        found[name] = float(np.mean([chain.kept(name)[:length].mean() for chain in chains]))
    return VotingDiagnostics({**found, "n_chains": len(chains)})


def warn_if_unsettled(found: VotingDiagnostics, sweeps: int) -> None:
    """Say that chains are plainly somewhere else, or still on their way.

    ``sweeps`` are those after burn-in; of a few nobody expects that.
    """
    if not found.quantities or sweeps < FEWEST_TO_JUDGE:
        return
    worst = found[found.worst]["r_hat"]
    if worst > WORST_RHAT or found["accepted"] < FEWEST_ACCEPTED:
        warnings.warn(str(found), ConvergenceWarning, stacklevel=3)
