"""Accuracy with its standard error, and how each class fares."""

import math

import numpy as np

from bayesmargin.calibration.reliability import error_of
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.markup import (
    Cell,
    Markup,
    join,
    name_of,
    note,
    number,
    paragraph,
    percent,
    table,
    tag,
)

MISSING = (
    "No labelled held-out rows were given, so nothing can be said about accuracy. Give the report "
    "rows that took no part in the fit, with their labels."
)


def write(context: Context) -> Markup:
    """The headline, what a constant answer would reach, and a table of classes."""
    held = context.held_out
    if held is None or held.truth is None or not len(held.truth):
        return note(MISSING)
    return _label_sets(context, held) if held.label_sets else _single(context, held)


def headline(held: HeldOut) -> tuple[float, float]:
    """Accuracy and its standard error."""
    right = float(np.mean(held.predicted == held.truth))
    return right, error_of(right, len(held.truth))


def _single(context: Context, held: HeldOut) -> Markup:
    right, error = headline(held)
    n_classes = len(context.class_names)
    known = held.known
    truth, predicted = held.truth[known], held.predicted[known]
    shares = np.bincount(truth, minlength=n_classes) / len(held.truth)
    common = int(shares.argmax())
    recall, rows = [], []
    for k, name in enumerate(context.class_names):
        members, chosen = truth == k, predicted == k
        hits = int((members & chosen).sum())
        found = hits / members.sum() if members.any() else math.nan
        precise = hits / chosen.sum() if chosen.any() else math.nan
        recall.append(found)
        rows.append(
            [
                Cell(name_of(name)), int(members.sum()), int(chosen.sum()), _share(found),
                _share(precise), _share(f1_of(hits, int(members.sum()), int(chosen.sum()))),
            ]
        )  # fmt: skip
    balanced = float(np.nanmean(recall)) if len(truth) else math.nan
    return join(
        [
            paragraph(
                tag("strong", f"{percent(right)} ± {percent(error)}"),
                f" of {len(held.truth):,} held-out rows get the right class (± one standard "
                "error). Always answering ",
                name_of(context.class_names[common], 30),
                f" would be right in {percent(float(shares[common]))}.",
            ),
            paragraph(
                "Balanced accuracy, the mean over classes of the share of their rows that are "
                f"recognised, is {percent(balanced)}."
            ),
            table(
                "Classes",
                ["class", "rows", "answered", "recognised", "answers right", "F1"],
                rows,
                filterable=n_classes > 12,
            ),
            note(
                "Recognised: share of the rows of a class that get it (recall). Answers right: "
                "share of the rows given a class that belong to it (precision)."
            ),
        ]
    )


def f1_of(hits: int, members: int, chosen: int) -> float:
    """Harmonic mean of precision and recall."""
    return 2.0 * hits / (members + chosen) if members + chosen else math.nan


def _share(value: float) -> Cell:
    return Cell(percent(float(value)), float(value))


def _label_sets(context: Context, held: HeldOut) -> Markup:
    truth = held.truth > 0
    chosen = held.predicted > 0
    hits = (truth & chosen).sum(axis=0)
    members, answers = truth.sum(axis=0), chosen.sum(axis=0)
    each = [f1_of(int(h), int(m), int(a)) for h, m, a in zip(hits, members, answers, strict=True)]
    micro = f1_of(int(hits.sum()), int(members.sum()), int(answers.sum()))
    exact = float((truth == chosen).all(axis=1).mean())
    error = error_of(exact, len(truth))
    rows = [
        [Cell(name_of(name)), int(m), int(a), _share(h / m if m else math.nan), _share(score)]
        for name, m, a, h, score in zip(
            context.class_names, members, answers, hits, each, strict=True
        )
    ]
    return join(
        [
            paragraph(
                "Rows may carry several labels. Micro-averaged F1 is ",
                tag("strong", number(micro)),
                f", the mean of the labels' F1 {number(float(np.nanmean(each)))}; the whole set of "
                f"labels is right in {percent(exact)} ± {percent(error)} of {len(truth):,} rows.",
            ),
            table(
                "Labels",
                ["label", "rows", "answered", "recognised", "F1"],
                rows,
                filterable=len(rows) > 12,
            ),
        ]
    )
