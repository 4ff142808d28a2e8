"""Whether a fitted model can be trusted, as far as its diagnostics can tell, in a sentence."""

from typing import Any

MOST_RHAT = 1.05


def trust(estimator: Any) -> tuple[bool | None, str]:
    """Verdict (None: the model has no diagnostics that could tell) and a sentence."""
    found: Any = getattr(estimator, "diagnostics_", None)
    if hasattr(found, "trustworthy"):
        return bool(found.trustworthy), str(found)
    if isinstance(found, dict) and found:
        named = {name: part for name, part in found.items() if isinstance(part, dict)}
        worst = max(named, key=lambda name: named[name]["r_hat"])
        value = named[worst]["r_hat"]
        mean = found["components"]["mean"]
        good = bool(value < MOST_RHAT)
        verdict = "can be trusted" if good else "should NOT be trusted: increase n_sweeps"
        return good, (
            f"The chain {verdict} (worst R-hat {value:.3f}, of the {worst}; {mean:.1f} components "
            "on average)."
        )
    if hasattr(estimator, "n_components_"):
        mean = float(estimator.n_components_.mean())
        return None, f"No convergence check applies; {mean:.1f} components on average."
    return None, "No convergence check applies to topics: judge the model by its accuracy."


def diagnostics_document(estimator: Any) -> dict[str, Any]:
    """The figures behind the verdict."""
    found: Any = getattr(estimator, "diagnostics_", None)
    figures = found.as_dict() if hasattr(found, "as_dict") else dict(found or {})
    good, sentence = trust(estimator)
    return {"trustworthy": good, "summary": sentence, **figures}
