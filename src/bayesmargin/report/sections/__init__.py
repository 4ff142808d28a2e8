"""The sections of a report, one a file, in their order on the page.

A section is a function from the :class:`~bayesmargin.report.context.Context` to its content, or
None where it does not apply.
"""

from collections.abc import Callable
from typing import NamedTuple

from bayesmargin.report.context import Context
from bayesmargin.report.markup import Markup
from bayesmargin.report.sections import (
    accuracy,
    answering,
    cases,
    components,
    confusion,
    diagnostics,
    links,
    overview,
    regions,
    reliability,
    tables,
    topics,
    values,
    weights,
)


class Section(NamedTuple):
    """Anchor, word in the navigation, heading, and the function that writes the content."""

    anchor: str
    link: str
    heading: str
    write: Callable[[Context], Markup | None]


_OF_ANY = (
    Section("fitted", "Fit", "What was fitted", overview.write),
    Section("trust", "Trust", "Can the run be trusted?", diagnostics.write),
)
_WEIGHTS = Section("weights", "Weights", "The strongest weights", weights.write)

SECTIONS = (
    *_OF_ANY,
    Section("accuracy", "Accuracy", "Accuracy", accuracy.write),
    Section("probabilities", "Probabilities", "Are the probabilities honest?", reliability.write),
    Section("answering", "No answer", "What leaving doubtful rows out gains", answering.write),
    Section("confusion", "Confusions", "What is taken for what", confusion.write),
    Section("cases", "Cases", "Certain, doubtful and surprising cases", cases.write),
    _WEIGHTS,
    Section("topics", "Topics", "Topics", topics.write),
    Section("components", "Components", "Components", components.write),
    Section("regions", "Regions", "Decision regions", regions.write),
)

VALUE_SECTIONS = (  # of a regression
    *_OF_ANY,
    Section("errors", "Errors", "How far predictions are off", values.write),
    Section("intervals", "Intervals", "Do intervals hold what they promise?", values.intervals),
    Section("cases", "Cases", "Rows far off, and rows that are hard to tell", values.cases),
    _WEIGHTS,
)

ITEM_SECTIONS = {  # of models that tables tell of instead of rows, by the kind of report
    "crowd": (
        *_OF_ANY,
        Section("items", "Items", "Labels in doubt", tables.doubtful_items),
        Section("workers", "Workers", "Whom to rely on", tables.workers),
    ),
    "ratings": (
        *_OF_ANY,
        Section("items", "Items", "What is liked", tables.liked_items),
        Section("users", "Users", "How users rate", tables.raters),
    ),
    "links": (
        *_OF_ANY,
        Section("matrix", "Links", "How probable links are", links.matrix),
        Section("features", "Features", "Features behind the links", links.features),
    ),
}
