"""What a vote says about itself: which figures, and what they mean."""

from collections.abc import Sequence

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


def diagnose(chains: Sequence[Gibbs], length: int) -> VotingDiagnostics:
    """Figures of the traces of so many sweeps of each chain."""
    return VotingDiagnostics(figures_of(chains, length, WATCHED, ("changed", "accepted")))
