"""What a fitted mixture says about itself: figures by name, and a sentence when printed."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmargin.diagnostics.figures import CUT_SHORT, Figures
from bayesmargin.models.mixtures.convergence import (
    EXPERTS,
    FEWEST_ACCEPTED,
    JOINING,
    right_spread,
    settled,
    too_many,
)


class MixtureDiagnostics(Figures):
    """Figures of label-invariant quantities: a dictionary that can judge and print itself.

    A quantity has its "mean", "r_hat" and "effective_draws"; "moved" is the share of rows that
    changed component in a sweep, "accepted" that of the trajectories of weights that were accepted
    (where these are the only way to move them), and "interrupted" is there, and True, after Ctrl-C.
    "experts" is the ratio of Stein's identity for their weights, with the "error" of its mean: one
    if they are as wide as their law says. "joining" is how much more probable, in nats, two
    components would be as one at the end of a chain, zero if none would.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics
    >>> figures = {"mean": 4.0, "r_hat": 1.01, "effective_draws": 90.0}
    >>> found = MixtureDiagnostics({"components": figures, "moved": 0.1}, [[4, 5, 3], [4, 4, 4]])
    >>> found.trustworthy, found["components"]["r_hat"]
    (True, 1.01)
    >>> print(found)
    The chains can be trusted (worst R-hat 1.010, of the components; 4.0 components on average).
    """

    def __init__(self, figures: Mapping[str, Any], n_components: Any) -> None:
        super().__init__(figures)
        self._components = np.atleast_2d(n_components)
        self._n_chains, self._mean = len(self._components), float(np.mean(self._components))

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by the user."""
        return bool(self.get("interrupted", False))

    @property
    def trustworthy(self) -> bool | None:
        """Whether every quantity has settled, at the right place, in a run that was not cut short.

        None where too few sweeps were kept to tell.
        """
        if not self.quantities:
            return None
        found = all(settled(part, self._n_chains) for part in self.quantities.values())
        right = self._spread_is_right and self.weights_move and not too_many(self)
        return found and right and not self.interrupted

    @property
    def weights_move(self) -> bool:
        """Whether enough of their trajectories are accepted."""
        return not self.get("accepted", 1.0) < FEWEST_ACCEPTED

    @property
    def _spread_is_right(self) -> bool:
        return all(right_spread(part) for part in self.quantities.values())

    def _repr_html_(self) -> str:
        from bayesmargin.report.cards import mixture_card

        return mixture_card(self, self._components)

    def __str__(self) -> str:
        size = f"{self._mean:.1f} components on average"
        if not self.quantities:
            return f"No convergence check applies; {size}."
        rhats = {name: part["r_hat"] for name, part in self.quantities.items()}
        known = {name: value for name, value in rhats.items() if not math.isnan(value)}
        bad = any(not settled(self.quantities[name], self._n_chains) for name in known)
        if len(known) < len(rhats) and not bad:
            return (
                "Nothing tells whether the chain is stuck or the partition beyond doubt: no row "
                f"ever changed its component ({size})."
            )
        worst = max(known, key=known.__getitem__)
        if known[worst] == math.inf:
            return f"The chains are stuck at different partitions ({size})."
        figures = f"worst R-hat {known[worst]:.3f}, of the {worst}"
        fewest = min(self.quantities[name]["effective_draws"] for name in known)
        if not self.trustworthy:
            figures += f"; {fewest:.0f} effective sweeps at least"
        return f"{self._verdict(worst)} ({figures}; {size})."

    def _verdict(self, worst: str) -> str:
        """What the figures say of the chains; of one alone R-hat compares the halves only.

        ``worst`` is the quantity with the largest R-hat.
        """
        if self.interrupted:
            return CUT_SHORT
        if not self.weights_move:
            share = 100.0 * self["accepted"]
            return f"The weights hardly move, {share:.0f}% accepted, and should NOT be trusted"
        if too_many(self):
            gain = f"{self[JOINING]:,.0f} nats"
            return f"There are too MANY components (two would be {gain} more probable as one)"
        if not self._spread_is_right:
            ratio = self[EXPERTS]["mean"]
            return f"The experts do NOT have the right spread (Stein's ratio {ratio:.2f} and not 1)"
        if not self.trustworthy:
            what = "experts have" if worst == EXPERTS else "partition has"
            return f"The {what} NOT settled: increase n_sweeps"
        if self._n_chains > 1:
            return "The chains can be trusted"
        return (
            "The chain has settled; whether other starts arrive there, only several chains can tell"
        )
