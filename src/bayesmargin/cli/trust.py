"""Whether a fitted model can be trusted, as far as its diagnostics can tell, in a sentence."""

from typing import Any

import numpy as np

MOST_RHAT = 1.05


def trust(estimator: Any) -> tuple[bool | None, str]:
    """Verdict (None: the model has no diagnostics that could tell) and a sentence."""
    found: Any = getattr(estimator, "diagnostics_", None)
    if hasattr(found, "trustworthy"):
        return found.trustworthy, str(found)
    if isinstance(found, dict) and found:
        named = {name: part for name, part in found.items() if isinstance(part, dict)}
        worst = max(named, key=lambda name: named[name]["r_hat"])
        value = named[worst]["r_hat"]
        good = bool(value < MOST_RHAT)
        figures = f"worst R-hat {value:.3f}, of the {worst}"
        size = f"{found['components']['mean']:.1f} components on average"
        return good, f"{_settled(estimator, good)} ({figures}; {size})."
    if hasattr(estimator, "n_components_"):
        mean = float(estimator.n_components_.mean())
        return None, f"No convergence check applies; {mean:.1f} components on average."
    return None, "No convergence check applies to topics: judge the model by its accuracy."


def _settled(mixture: Any, good: bool) -> str:
    """What R-hat says of the chains of a mixture; of one alone it compares the halves only."""
    if not good:
        return "The partition has NOT settled: increase n_sweeps"
    if len(np.atleast_2d(mixture.n_components_)) > 1:
        return "The chains can be trusted"
    return "The chain has settled; whether other starts arrive there, only several chains can tell"


def diagnostics_document(estimator: Any) -> dict[str, Any]:
    """The figures behind the verdict."""
    found: Any = getattr(estimator, "diagnostics_", None)
    figures = found.as_dict() if hasattr(found, "as_dict") else dict(found or {})
    good, sentence = trust(estimator)
    return {"trustworthy": good, "summary": sentence, **figures}
