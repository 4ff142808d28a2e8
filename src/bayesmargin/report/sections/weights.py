"""Posterior intervals of the strongest weights."""

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.report import charts
from bayesmargin.report.context import VALUES, Context
from bayesmargin.report.markup import (
    Cell,
    Markup,
    choice,
    figure,
    join,
    name_of,
    note,
    paragraph,
    percent,
    table,
)
from bayesmargin.report.sections.weight_draws import WeightDraws, strength_of, weight_draws

EACH = 15  # weights in a picture
MOST_CLASSES = 30
LISTED = 200  # weights in the table
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def write(context: Context) -> Markup | None:
    """Pictures by class and one table of all that stand out."""
    if context.kind in ("linear", VALUES):
        return _linear(context)
    if context.kind == "topics":
        return _topics(context)
    return None


def _linear(context: Context) -> Markup:
    draws = weight_draws(context.estimator)
    strength = strength_of(*draws.moments())
    blocks = _blocks(context, draws.shape[2])
    panels, rows = [], []
    share = max(1, LISTED // len(blocks))
    for block, name in blocks:
        order = np.argsort(-strength[block], kind="stable")[: max(EACH, share)]
        flat = draws.of(order)[:, :, block].reshape(-1, len(order))
        quantiles = np.quantile(flat, LEVELS, axis=0)
        names = [context.feature_names[j] for j in order]
        chart = charts.intervals(
            names[:EACH], quantiles[:, :EACH], "weight",
            f"Posterior intervals of the {min(EACH, len(names))} strongest weights, {name}.",
        )  # fmt: skip
        caption = "Dot: median. Thick line: 50% of the posterior, thin line: 90%."
        panels.append((name, figure(chart, caption)))
        rows += _lines(names, name, flat, quantiles, len(blocks) > 1)
    word = "line" if context.kind == VALUES else "class"
    columns = ["feature", *([word] if len(blocks) > 1 else [])]
    columns += ["mean", "sd", "5%", "95%", "sure of its sign"]
    return join(
        [
            paragraph(
                _direction(context, draws), " Strongest means farthest from zero in units of the "
                "posterior standard deviation. A weight's size depends on the scale of its "
                "feature.",
            ),
            choice("Weights of", panels),
            table("Strongest weights", columns, rows, filterable=True),
            _rest(strength, rows),
        ]
    )  # fmt: skip


def _direction(context: Context, draws: WeightDraws) -> str:
    """What the sign of a weight means."""
    if context.kind == VALUES:
        return "A line rises by the weight where the feature rises by one."
    if draws.shape[2] == 1:
        names = context.class_names
        return f"Positive weights speak for {names[1]}, negative ones for {names[0]}."
    if not draws.relative:
        return "Positive weights speak for the class, negative ones against it."
    return (
        "Weights are shown less their mean over the classes, since only differences between "
        "classes matter: positive ones speak for the class more than for the others on average, "
        "negative ones less."
    )


def _rest(strength: FloatArray, rows: list[list[object]]) -> Markup:
    total = strength.size
    clear = int((strength > 1.645).sum())
    return note(
        f"{clear:,} of {total:,} weights lie more than 1.64 posterior standard deviations from "
        f"zero; the table lists {len(rows):,}."
    )


def _blocks(context: Context, count: int) -> list[tuple[int, str]]:
    if count == 1 and context.kind == VALUES:
        return [(0, context.class_names[0])]
    if count == 1:
        return [(0, f"{context.class_names[1]} against {context.class_names[0]}")]
    return [(k, context.class_names[k]) for k in range(min(count, MOST_CLASSES))]


def _lines(
    names: list[str], group: str, flat: FloatArray, quantiles: FloatArray, several: bool
) -> list[list[object]]:
    rows: list[list[object]] = []
    for k, name in enumerate(names):
        line = flat[:, k]
        sure = float(max((line > 0).mean(), (line < 0).mean()))
        middle = [float(line.mean()), float(line.std())]
        ends = [float(quantiles[0, k]), float(quantiles[-1, k])]
        group_cell = [Cell(name_of(group, 30))] if several else []
        rows.append([Cell(name_of(name)), *group_cell, *middle, *ends, Cell(_sure(sure), sure)])
    return rows


def _sure(share: float) -> str:
    return ">99.9%" if share > 0.999 else percent(share)


def topic_weights(context: Context, block: int) -> tuple[list[str], FloatArray]:
    """Names of the topics that a class weighs in the first chain, and draws (draw, topic) of them.

    With one model a class, topics of the others weigh nothing. Shares of the models' topics lie
    side by side, divided by the number of models; as in ``coef_`` the weights make up for it.
    """
    estimator = context.estimator
    first = np.array(estimator.posterior_[0].coef)
    if first.shape[1:] == estimator.coef_.shape:
        return context.topic_names, first[:, block]
    n_models, n_topics = len(estimator.coef_), first.shape[2]
    draws = n_models * np.array(estimator.posterior_[block].coef)[:, 0]
    return context.topic_names[block * n_topics : (block + 1) * n_topics], draws


def _topics(context: Context) -> Markup:
    """Weights of topics in the first chain: mean and range over its draws."""
    panels = []
    for block, name in _blocks(context, len(context.estimator.coef_)):
        names, draws = topic_weights(context, block)
        order = np.argsort(-np.abs(draws.mean(axis=0)), kind="stable")[:EACH]
        quantiles = np.quantile(draws[:, order], LEVELS, axis=0)
        chart = charts.intervals(
            [names[k] for k in order], quantiles, "weight of the topic",
            f"Intervals of the strongest topic weights, {name}.",
        )  # fmt: skip
        panels.append((name, figure(chart, "Dot: median of the draws; lines: 50% and 90%.")))
    return join(
        [
            paragraph(
                "A document's score for a class is the sum over topics of weight times share of "
                "its words. Topics carry their two most probable words as a name."
            ),
            choice("Weights of", panels),
            note(
                f"From {len(draws)} draws of the first chain; topics of different chains do not "
                "correspond. With so few draws the ends of the intervals are rough."
            ),
        ]
    )
