"""Whether a fitted model can be trusted, as far as its diagnostics can tell, in a sentence."""

from typing import Any


def trust(estimator: Any) -> tuple[bool | None, str]:
    """Verdict (None: the model has no diagnostics that could tell) and a sentence."""
    found: Any = getattr(estimator, "diagnostics_", None)
    if hasattr(found, "trustworthy"):
        return found.trustworthy, str(found)
    return None, "No convergence check applies to topics: judge the model by its accuracy."


def diagnostics_document(estimator: Any) -> dict[str, Any]:
    """The figures behind the verdict."""
    found: Any = getattr(estimator, "diagnostics_", None)
    figures = found.as_dict() if hasattr(found, "as_dict") else dict(found or {})
    good, sentence = trust(estimator)
    return {"trustworthy": good, "summary": sentence, **figures}
