"""The API reference: every public name of the modules below, from their own lists of names."""

import importlib
import importlib.util
from pathlib import Path

from sphinx.application import Sphinx

# Heading, module, and the names shown; None means all of the module's ``__all__``. Modules that an
# installation lacks are left out.
GROUPS = (
    ("Estimators", "bayesmargin", None),
    ("Samplers", "bayesmargin.samplers", None),
    ("Report", "bayesmargin.report", None),
    ("Posterior", "bayesmargin.posterior", ["Posterior"]),
    (
        "Diagnostics",
        "bayesmargin.diagnostics.convergence",
        ["Diagnostics", "rhat", "bulk_ess", "tail_ess", "effective_sample_size"],
    ),
    ("Decisions", "bayesmargin.decisions", None),
    ("Pictures", "bayesmargin.plots", ["plot_posterior", "plot_reliability", "plot_risk"]),
    (
        "Settings of mixtures",
        "bayesmargin.models.infinite_svc",
        ["GaussianComponents", "MixtureGibbs", "HMC"],
    ),
    (
        "Settings of topic models",
        "bayesmargin.models.medlda",
        ["SSGRLD", "CollapsedGibbs", "PassiveAggressive"],
    ),
    ("Topics", "bayesmargin.models.medlda", ["TokenCounter", "coherence", "plot_class_topics"]),
    ("Draws of topics", "bayesmargin.models.medlda.posterior", ["TopicPosterior"]),
    (
        "Pictures of mixtures",
        "bayesmargin.models.infinite_svc.pictures",
        ["plot_regions", "plot_sizes", "plot_co_clustering"],
    ),
    ("Components of a mixture", "bayesmargin.models.infinite_svc.reading", ["Expert"]),
    ("Probabilities of a mixture", "bayesmargin.calibration.floored", ["Link"]),
    (
        "Votes of crowds",
        "bayesmargin.models.crowd",
        ["majority_vote", "weighted_vote", "dawid_skene"],
    ),
    ("Rows larger than memory", "bayesmargin.rows", None),
    ("Saving", "bayesmargin.saving", None),
    ("Tables", "bayesmargin.tables", None),
    ("Clusters", "bayesmargin.distributed", None),
    ("Data sets", "bayesmargin.datasets", None),
    (
        "Steps",
        "bayesmargin.dynamics.steps",
        ["Constant", "Polynomial", "AdaGrad", "RMSprop", "Unscaled", "step_sizes"],
    ),
    ("Validation of samplers", "bayesmargin.validation", None),
    ("For authors of samplers", "bayesmargin.targets.problem", ["Problem"]),
)
# Modules whose own text explains something that other pages point to.
EXPLAINED = ("bayesmargin.models.infinite_svc.prediction",)
TABLE = """{heading}
{line}

.. autosummary::
   :toctree: api
   :nosignatures:

{names}
"""


def public_names(module: str, names: list[str] | None) -> list[str]:
    """Names of a group; each object once, in the group that comes first."""
    if names is not None:
        return names
    listed = getattr(importlib.import_module(module), "__all__", [])
    return [name for name in listed if not name.startswith("__")]


def reference_page() -> str:
    """The page in reStructuredText."""
    parts = ["API reference\n=============\n"]
    seen: set[int] = set()
    for heading, module, names in GROUPS:
        if importlib.util.find_spec(module) is None:
            continue
        lines = []
        for name in public_names(module, names):
            thing = getattr(importlib.import_module(module), name)
            if id(thing) not in seen:
                lines.append(f"   {module}.{name}")
            seen.add(id(thing))
        if lines:
            table = TABLE.format(heading=heading, line="-" * len(heading), names="\n".join(lines))
            parts.append(table)
    parts.append("Errors and warnings\n-------------------\n")
    parts.append(".. automodule:: bayesmargin.errors\n   :members:\n   :show-inheritance:\n")
    parts.append("Explanations in the source\n--------------------------\n")
    for module in EXPLAINED:
        parts.append(f"{module}\n{'~' * len(module)}\n\n.. automodule:: {module}\n")
    parts.append(".. py:module:: bayesmargin.samplers\n")
    return "\n".join(parts)


def write_page(app: Sphinx, config) -> None:
    """Write the page before the sources are read; leave it alone when nothing changed."""
    page = Path(app.srcdir) / "generated" / "reference.rst"
    page.parent.mkdir(exist_ok=True)
    text = reference_page()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def skip_borrowed(app, what, name, thing, skip, options):
    """Leave out what comes from other libraries; their texts point to their own pages."""
    home = getattr(thing, "__module__", None) or ""
    borrowed = callable(thing) and not home.startswith("bayesmargin")
    return True if borrowed or (name.startswith("set_") and name.endswith("_request")) else None


def setup(app: Sphinx):
    """Connect to the build."""
    app.connect("config-inited", write_page)
    app.connect("autodoc-skip-member", skip_borrowed)
    return {"version": "1", "parallel_read_safe": True}
