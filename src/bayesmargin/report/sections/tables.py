"""Models of items that tables tell of: crowds, ratings, links. What is known, best first."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.ratings.draws import liking
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.markup import (
    Cell,
    Markup,
    figure,
    join,
    name_of,
    note,
    number,
    paragraph,
    percent,
    short,
    table,
    tag,
    verdict,
)

EACH = 20  # names in a chart
MOST = 500  # rows of a table
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMES = {
    "hinge": "hinges",
    "weight": "mean weight",
    "votes": "log probability of the votes",
    "items": "how far items differ",
    "factors": "what factors do to scores",
    "features": "number of features",
    "ones": "features of an entity",
    "alike": "square of the features that two share",
}


def facts(context: Context) -> list[tuple[str, Any]]:
    """How many there are of what, and what values there are."""
    model = context.estimator
    names = ("items_", "workers_", "users_", "entities_")
    found: list[tuple[str, Any]] = [
        (name.rstrip("_").capitalize(), number(len(getattr(model, name))))
        for name in names
        if hasattr(model, name)
    ]
    kinds = {"Classes": "classes_", "Levels": "levels_", "Relations": "relations_"}
    word = next(word for word, name in kinds.items() if hasattr(model, name))
    levels = getattr(model, kinds[word])
    shown = ", ".join(short(name, 24) for name in levels[:8].tolist())
    found.append((f"{word} ({len(levels)})", shown + (" and more" if len(levels) > 8 else "")))
    return found


def trust_verdict(context: Context) -> tuple[bool | None, str]:
    """Whether the chains have settled."""
    found = context.estimator.diagnostics_
    return found.trustworthy, str(found)[:1].lower() + str(found)[1:]


def trust(context: Context) -> Markup:
    """Verdict and figures of the quantities that do not depend on hidden names."""
    rows = [
        [NAMES.get(name, name), *(Cell(number(part[key]), part[key]) for key in part)]
        for name, part in context.estimator.diagnostics_.quantities.items()
    ]
    columns = ["quantity", "mean", "R-hat", "effective sweeps"]
    found = [verdict(*trust_verdict(context))]
    if rows:
        found.append(table("Quantities along the chains", columns, rows, plain=True))
    return join(found)


def doubtful_items(context: Context) -> Markup:
    """Items whose label is least certain."""
    model = context.estimator
    best = model.probability_.max(axis=1)
    order = np.argsort(best, kind="stable")[:MOST]
    expected = float(1.0 - best.mean())
    rows = [
        [
            Cell(name_of(model.items_[i])),
            short(model.labels_[i]),
            Cell(percent(best[i]), float(best[i])),
        ]
        for i in order
    ]
    return join([
        paragraph(
            "By its own probabilities the model expects ", tag("strong", percent(expected)),
            f" of the {len(best):,} labels to be wrong. The least certain items come first: there "
            "another vote is worth most.",
        ),
        table("Items, least certain first", ["item", "label", "probability"], rows,
              filterable=True),
    ])  # fmt: skip


def workers(context: Context) -> Markup:
    """Workers with accuracy, or weight where there are no matrices."""
    posterior = context.estimator.posterior_
    name = "accuracy" if "accuracy" in posterior else "weight"
    told = {
        "accuracy": "probability of a right label",
        "weight": "weight of a vote; below zero, it counts against its label",
    }
    return _ranked(
        posterior.flat(name), context.estimator.workers_, "worker", name, told[name],
        "Those of whom least good is known come last.",
    )  # fmt: skip


def liked_items(context: Context) -> Markup:
    """Items by how much they are liked."""
    return _ranked(
        liking(context.estimator.posterior_), context.estimator.items_, "item", "liking",
        "how much users like an item on average, their own biases aside, in units of scores",
        "An item with few ratings has a wide interval.",
    )  # fmt: skip


def raters(context: Context) -> Markup:
    """What a score must reach for each level, and how much users differ in that."""
    posterior = context.estimator.posterior_
    cuts = posterior.flat("thresholds") - posterior.flat("user_bias")[:, :, None]
    means = cuts.mean(axis=0)
    names = list(posterior.coords["cut"])
    return join([
        paragraph(
            "A score between two thresholds of a user reads as the rating between them. Users "
            "have thresholds of their own: lines show how far they differ from user to user."
        ),
        figure(
            charts.intervals(names, np.quantile(means, QUANTILES, axis=0),
                             "item's score above which the higher rating is read",
                             "Thresholds of users between neighbouring ratings"),
            "Thresholds less biases of users, posterior means: quartiles and 90% of the users.",
        ),
    ])  # fmt: skip


def _ranked(draws: FloatArray, names: Any, who: str, what: str, told: str, remark: str) -> Markup:
    """A chart of the best and the worst, and a table of all."""
    order = np.argsort(-draws.mean(axis=0), kind="stable")
    shown = order
    if len(order) > EACH:
        shown = np.concatenate([order[: EACH // 2], order[-(EACH // 2) :]])
    quantiles = np.quantile(draws[:, order], QUANTILES, axis=0)
    place = {index: k for k, index in enumerate(order.tolist())}
    part = quantiles[:, [place[index] for index in shown.tolist()]]
    caption = f"Posterior of the {what}: medians, quartiles and 90% intervals"
    if len(shown) < len(order):
        caption += f", of the first and the last of {len(order):,}"
    rows = [
        [Cell(name_of(names[index])), *(Cell(number(value), float(value)) for value in
                                        quantiles[[0, 2, 4], k])]
        for k, index in enumerate(order[:MOST].tolist())
    ]  # fmt: skip
    found = [
        paragraph(f"{what.capitalize()}: {told}. {remark}"),
        figure(
            charts.intervals([short(names[i]) for i in shown], part, what, f"{what} of each {who}"),
            f"{caption}.",
        ),
        table(f"{who.capitalize()}s", [who, "5%", "median", "95%"], rows, filterable=True),
    ]
    if len(order) > MOST:
        found.append(note(f"The table shows the first {MOST} of {len(order):,}."))
    return join(found)
