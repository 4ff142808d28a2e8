"""How many errors are left if only the most certain rows are answered."""

import numpy as np

from bayesmargin.decisions.risk import RiskCurve, risk_curve
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.markup import (
    Markup,
    details,
    figure,
    join,
    note,
    number,
    paragraph,
    percent,
    table,
)

FEWEST = 20
SHARES = tuple(round(0.1 * k, 1) for k in range(1, 11))


def write(context: Context) -> Markup | None:
    """The curve of risk against the share of rows answered."""
    held = context.held_out
    if held is None or held.truth is None or held.label_sets:
        return None
    known = held.known
    if len(known) < FEWEST:
        return note("Fewer than 20 labelled rows: too few to say how the risk falls.")
    curve = risk_curve(held.probability[known], held.truth[known])
    return join([paragraph(_sentence(curve)), _picture(curve, len(known))])


def _sentence(curve: RiskCurve) -> str:
    every, most = curve.at(1.0), curve.at(0.8)
    words = f"With every row answered {percent(every)} of the answers are wrong"
    if every == 0.0:
        return f"{words}: there is nothing to gain by leaving rows out."
    return (
        f"{words}; with the most certain four fifths answered, {percent(most)}. Rows are answered "
        "in the order of the probability of their most probable class."
    )


def _picture(curve: RiskCurve, rows: int) -> Markup:
    answered = np.array(SHARES)
    place = np.minimum(np.searchsorted(curve.answered, answered - 1e-12), len(curve.risk) - 1)
    points = [
        [float(curve.answered[k]), float(curve.risk[k]), float(curve.threshold[k])] for k in place
    ]
    # Among the very first rows one error is a large share.
    shown = curve.answered >= min(FEWEST / rows, 1.0)
    step = max(1, int(shown.sum()) // 200)
    x, y = curve.answered[shown], curve.risk[shown]
    picked = np.unique(np.append(np.arange(0, len(x), step), len(x) - 1))
    return figure(
        charts.risk(x[picked], y[picked]),
        f"Share of errors among the rows answered, from the {min(FEWEST, rows)} most certain rows "
        f"to all. The area under the whole curve is {number(curve.area)}.",
        details(
            "The curve as a table",
            table(
                "Risk by the share of rows answered",
                ["answered", "errors among them", "least probability of their answers"],
                points,
            ),
        ),
    )
