"""What every fit says about itself, whichever its model: a verdict, a sentence, and figures."""

from typing import Any, Protocol

#: The verdict on a run that Ctrl-C has ended, of any model.
CUT_SHORT = "The run was interrupted and should NOT be trusted: fit again in full"


class FitDiagnostics(Protocol):
    """What pages and programs ask of ``diagnostics_``; printed, it is a sentence."""

    @property
    def trustworthy(self) -> bool | None:
        """Whether every check passed, in a run that was not cut short; None: nothing can tell."""

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by the user."""

    def as_dict(self) -> dict[str, Any]:
        """Figures by name."""


class Figures(dict[str, Any]):
    """Diagnostics that are a dictionary of figures: those of quantities, and single numbers.

    Examples
    --------
    >>> from bayesmargin.diagnostics.figures import Figures
    >>> found = Figures({"partition": {"r_hat": 1.01}, "moved": 0.2})
    >>> found.quantities
    {'partition': {'r_hat': 1.01}}
    >>> found.as_dict() == found
    True
    """

    @property
    def quantities(self) -> dict[str, dict[str, float]]:
        """The figures of those quantities that have several."""
        return {name: part for name, part in self.items() if isinstance(part, dict)}

    def as_dict(self) -> dict[str, Any]:
        """Figures by name."""
        return dict(self)
