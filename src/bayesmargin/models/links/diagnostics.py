"""What a fit of links says about itself: figures by name, and a sentence when printed."""

from collections.abc import Sequence

from bayesmargin.models.settling import SweepDiagnostics, figures_of
from bayesmargin.running.gibbs import Gibbs

WATCHED = ("hinge", "features", "ones", "alike")


class LinksDiagnostics(SweepDiagnostics):
    """Figures of the chains, none of which depends on how features are numbered.

    "hinge" is the energy of the links, "features" the number of features, "ones" how many an entity
    holds, "alike" the mean square of how many two entities share: each has its "mean", "r_hat" and
    "effective_draws". "changed" is the share of entries of the matrix that a sweep changes,
    "accepted" that of the trajectories of the weights.

    Examples
    --------
    >>> from bayesmargin.models.links.diagnostics import LinksDiagnostics
    >>> figures = {"mean": 4.0, "r_hat": 1.01, "effective_draws": 900.0}
    >>> print(LinksDiagnostics({"features": figures, "accepted": 1.0, "n_chains": 4}))
    The chains can be trusted (worst R-hat 1.010, of the features).
    """


def diagnose(chains: Sequence[Gibbs], length: int) -> LinksDiagnostics:
    """Figures of the traces of so many sweeps of each chain."""
    return LinksDiagnostics(figures_of(chains, length, WATCHED, ("changed", "accepted")))
