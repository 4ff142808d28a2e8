"""What a vote says about itself beside what all chains of sweeps do: how weights are accepted."""

from collections.abc import Sequence

from bayesmargin.models.mixtures.convergence import FEWEST_ACCEPTED
from bayesmargin.models.settling import SweepDiagnostics, figures_of
from bayesmargin.running.gibbs import Gibbs

WATCHED = ("hinge", "weight", "votes")


class VotingDiagnostics(SweepDiagnostics):
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
    def stuck(self) -> str:
        """Whether weights hardly move."""
        if self["accepted"] >= FEWEST_ACCEPTED:
            return ""
        share = 100.0 * self["accepted"]
        return f"The weights hardly move, {share:.0f}% accepted, and should NOT be trusted."


def diagnose(chains: Sequence[Gibbs], length: int) -> VotingDiagnostics:
    """Figures of the traces of so many sweeps of each chain."""
    return VotingDiagnostics(figures_of(chains, length, WATCHED, ("changed", "accepted")))
