"""Reliability of the probabilities: curve, calibration error, Brier score, log loss."""

import numpy as np

from bayesmargin.calibration.reliability import curve_of, expected_error
from bayesmargin.calibration.scoring import brier_score, log_loss
from bayesmargin.foundation.types import FloatArray
from bayesmargin.report import charts
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.markup import (
    Markup,
    choice,
    details,
    figure,
    join,
    note,
    number,
    paragraph,
    table,
    verdict,
)

MOST_CLASSES = 30  # that get a curve of their own


def write(context: Context) -> Markup | None:
    """A verdict, the scores, and curves to choose from."""
    held = context.held_out
    if held is None or held.truth is None or len(held.known) < 20:
        if held is None or held.truth is None:
            return None
        return note("Fewer than 20 labelled rows: too few for a reliability curve.")
    panels = [(name, _panel(name, *pair)) for name, pair in _events(context, held)]
    return join([_scores(context, held), choice("Curve of", panels)])


def headline(context: Context, held: HeldOut) -> tuple[float, float]:
    """Calibration error, and the bound below which it could be chance."""
    _, (chance, event) = _events(context, held)[0]
    return curve_of(chance, event).calibration_error, expected_error(chance)[1]


def _events(context: Context, held: HeldOut) -> list[tuple[str, tuple[FloatArray, FloatArray]]]:
    """Forecast and outcome of what curves can be drawn for; the first is the headline."""
    known = held.known
    chance, names = held.probability[known], context.class_names
    if held.label_sets:
        member = (held.truth[known] > 0).astype(float)
        first = [("all labels together", (chance.ravel(), member.ravel()))]
        several = True
    else:
        member = (held.truth[known][:, None] == np.arange(len(names))).astype(float)
        several = len(names) > 2
        top = chance.argmax(axis=1)
        rows = np.arange(len(top))
        first = [("the predicted class", (chance[rows, top], member[rows, top]))]
    if not several:
        return [(f"class {names[1]}", (chance[:, 1], member[:, 1]))]
    frequent = np.argsort(-member.sum(axis=0), kind="stable")[:MOST_CLASSES]
    return first + [(f"class {names[k]}", (chance[:, k], member[:, k])) for k in sorted(frequent)]


def _scores(context: Context, held: HeldOut) -> Markup:
    error, bound = headline(context, held)
    usual = expected_error(_events(context, held)[0][1][0])[0]
    calm = error <= bound
    sentence = (
        f"forecasts and frequencies differ by {number(error)} on average (expected calibration "
        f"error). Perfect forecasts would show {number(usual)} on this many rows, and up to "
        f"{number(bound)} by chance."
    )
    advice = (
        "The difference is within what chance explains."
        if calm
        else "The difference is more than chance explains. Small differences seldom matter; if "
        "this one does, recalibrate on held-out rows, or see whether they differ from the "
        "training rows."
    )
    return join([verdict(calm, sentence), paragraph(advice), _brier(context, held)])


def _brier(context: Context, held: HeldOut) -> Markup:
    known = held.known
    chance = held.probability[known]
    if held.label_sets:
        member = (held.truth[known] > 0).astype(float)
        brier = float(((chance - member) ** 2).mean())
        base = float(((member.mean(axis=0) - member) ** 2).mean())
        return paragraph(
            f"Brier score {number(brier)} (mean over rows and labels; the labels' frequencies "
            f"would give {number(base)}; 0 is perfect)."
        )
    truth, n_classes = held.truth[known], len(context.class_names)
    frequency = np.bincount(truth, minlength=n_classes) / len(truth)
    constant = np.broadcast_to(frequency, chance.shape)
    summed = "" if n_classes == 2 else ", summed over classes"
    return table(
        "Scores of the probabilities (smaller is better)",
        ["score", "this model", "class frequencies alone"],
        [
            [f"Brier score{summed}", brier_score(truth, chance), brier_score(truth, constant)],
            ["log loss", log_loss(truth, chance), log_loss(truth, constant)],
        ],
        plain=True,
    )


def _panel(name: str, chance: FloatArray, event: FloatArray) -> Markup:
    curve = curve_of(chance, event)
    rows = [
        [k + 1, float(f), float(o), float(e), int(n)]
        for k, (f, o, e, n) in enumerate(zip(*curve, strict=True))
    ]
    return figure(
        charts.reliability(*curve, title=name),
        f"Each point holds about {int(np.median(curve.cases)):,} cases; bars are one standard "
        "error. On the dashed line forecasts are exactly right; below it they claim too much.",
        details(
            "The points as a table",
            table(
                f"Reliability of {name}",
                ["bin", "forecast", "observed", "standard error", "cases"],
                rows,
            ),
        ),
    )
