"""Topics: their map, which class uses which, and the words of each."""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.understanding import class_topics
from bayesmargin.report import charts
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.markup import (
    Cell,
    Markup,
    figure,
    join,
    name_of,
    note,
    paragraph,
    percent,
    short,
    table,
    tag,
)
from bayesmargin.report.sections.topic_map import topic_map

MOST_DOCUMENTS = 3000  # for the mean shares of classes
MOST_TOPICS, MOST_CLASSES = 60, 40  # in the picture
LEAST_SHARE = 0.03  # of the largest entry, below which a topic is left out of the picture
LISTED = 400  # topics in the table
WORDS = 12


def write(context: Context) -> Markup | None:
    """The map of topics, that of classes and topics, and the word lists."""
    if context.kind != "topics":
        return None
    held = context.held_out
    means = share = None
    if held is not None and held.truth is not None and len(held.known):
        means, share = _class_shares(context, held)
    weights = _weights(context)
    users = (weights if means is None else np.nan_to_num(means)).argmax(axis=0)
    return join(
        [
            topic_map(context, share, users),
            _map(context, means) if means is not None else _weight_map(context, weights),
            _words(context, means, weights),
        ]
    )


def _weights(context: Context) -> FloatArray:
    """Weights of every class, (class, topic), of two classes as well."""
    coef: FloatArray = context.estimator.coef_
    return np.vstack([-coef[0], coef[0]]) if len(coef) == 1 else coef


def _class_shares(context: Context, held: HeldOut) -> tuple[FloatArray, FloatArray]:
    """Mean topic shares by class and of all, from some of the held-out documents."""
    known = held.known
    if len(known) > MOST_DOCUMENTS:
        known = np.sort(np.random.default_rng(0).choice(known, MOST_DOCUMENTS, replace=False))
    shares = context.estimator.transform(held.take(known))
    means = class_topics(shares, held.truth[known], np.arange(len(context.class_names)))
    return means, shares.mean(axis=0)


def _order(strength: FloatArray) -> IntArray:
    """Most used topics, in the order of the class that uses them most."""
    filled = np.nan_to_num(strength)
    kept = np.argsort(-filled.max(axis=0), kind="stable")[:MOST_TOPICS]
    kept = kept[filled.max(axis=0)[kept] >= LEAST_SHARE * filled.max()]
    part = filled[:, kept]
    return kept[np.lexsort((-part.max(axis=0), part.argmax(axis=0)))]


def _map(context: Context, means: FloatArray) -> Markup:
    order = _order(means)
    classes = np.flatnonzero(~np.isnan(means[:, 0]))[:MOST_CLASSES]
    part = means[np.ix_(classes, order)]
    names = [context.class_names[k] for k in classes]
    topics = [context.topic_names[k] for k in order]
    tips = [
        [
            f"{short(name, 40)}: {percent(float(part[i, j]))} of the words in topic {topic}"
            for j, topic in enumerate(topics)
        ]
        for i, name in enumerate(names)
    ]
    labels = [[f"{100 * value:.0f}" if value >= 0.01 else "" for value in row] for row in part]
    chart = charts.heat_map(
        names, topics, part / max(part.max(), 1e-12), labels, tips, ("class", "topic"),
        "Mean share of the words of a class in each topic; the table of topics names the classes "
        "that use each most.",
    )  # fmt: skip
    more = (
        ""
        if len(order) == means.shape[1]
        else f" The {len(order)} topics that some class uses are shown."
    )
    caption = f"Darker: a larger share (in %) of the words of held-out documents.{more}"
    return figure(chart, caption)


def _weight_map(context: Context, coef: FloatArray) -> Markup:
    order = _order(np.abs(coef))
    part = coef[:MOST_CLASSES][:, order]
    names = context.class_names[: len(part)]
    topics = [context.topic_names[k] for k in order]
    tips = [
        [
            f"{short(name, 40)}, topic {topic}: weight {part[i, j]:.3g}"
            for j, topic in enumerate(topics)
        ]
        for i, name in enumerate(names)
    ]
    blank = [[""] * len(topics)] * len(names)
    chart = charts.heat_map(
        names, topics, part / max(np.abs(part).max(), 1e-12), blank, tips, ("class", "topic"),
        "Weights of topics for each class; the table of topics names the strongest.",
    )  # fmt: skip
    caption = "Weights: one colour for, the other against the class; hover for the figures."
    return join(
        [
            note("No labelled held-out documents were given; weights are shown instead of shares."),
            figure(chart, caption),
        ]
    )


def _words(context: Context, means: FloatArray | None, coef: FloatArray) -> Markup:
    topics = context.topics[:LISTED]
    source = coef if means is None else np.nan_to_num(means)
    rows = []
    for k, topic in enumerate(topics):
        best = np.argsort(-topic, kind="stable")[:WORDS]
        words: list[object] = []
        for j in best:
            words += [" "] if words else []
            words.append(
                tag(
                    "span", short(context.feature_names[j], 24), class_="word",
                    data_tip=f"{short(context.feature_names[j])}: {percent(float(topic[j]), 2)}",
                )
            )  # fmt: skip
        users = np.argsort(-source[:, k], kind="stable")[:2]
        named = [name_of(context.class_names[u], 24) for u in users if source[u, k] > 0]
        largest = float(source[:, k].max())
        shown = percent(largest) if means is not None else f"{largest:.3g}"
        classes = join(
            item for n, name in enumerate(named) for item in ((", ", name) if n else (name,))
        )
        rows.append([k + 1, join(words), classes, Cell(shown, largest)])
    last = "largest share in a class" if means is not None else "largest weight"
    which = "used most by" if means is not None else "speaks for"
    return join(
        [
            paragraph("The most probable words of every topic, first chain."),
            table("Topics", ["topic", "words", which, last], rows, filterable=True),
        ]
    )
