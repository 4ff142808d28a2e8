"""Whether a fitted model can be trusted, as far as its diagnostics can tell, in a sentence."""

from typing import Any

from bayesmargin.diagnostics.figures import FitDiagnostics


def trust(estimator: Any) -> tuple[bool | None, str]:
    """Verdict (None: there are too few draws to tell) and a sentence."""
    found: FitDiagnostics = estimator.diagnostics_
    return found.trustworthy, str(found)


def diagnostics_document(estimator: Any) -> dict[str, Any]:
    """The figures behind the verdict."""
    good, sentence = trust(estimator)
    return {"trustworthy": good, "summary": sentence, **estimator.diagnostics_.as_dict()}
