"""Diagnostics of models without a fixed set of weights: quantities that labels do not change."""

import math
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.mixtures.convergence import (
    EXPERTS,
    JOINING,
    LET_ROWS_MOVE,
    right_spread,
    settled,
    too_many,
    trace_report,
)
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.markup import (
    Cell,
    Markup,
    choice,
    figure,
    join,
    note,
    number,
    paragraph,
    table,
    tag,
    verdict,
)

NAMES = {
    "components": "number of components",
    "partition": "log probability of the partition",
    "concentration": "concentration",
    EXPERTS: "spread of the experts",
}


def components_verdict(context: Context) -> tuple[bool | None, str]:
    """Whether the chains of a mixture have settled."""
    figures = _mixture_figures(context)
    if not figures:
        return None, "there are too few sweeps after burn-in to say whether the chain has settled."
    found = context.estimator.diagnostics_
    if found.interrupted:
        return False, "the run was interrupted: fit again in full."
    if not found.weights_move:
        share = 100.0 * found["accepted"]
        return False, f"the weights hardly move: {share:.0f}% of their trajectories were accepted."
    chains = len(np.atleast_2d(context.estimator.n_components_))
    known = {name: part for name, part in figures.items() if not math.isnan(part["r_hat"])}
    if too_many(found):
        gain = found[JOINING]
        return (
            False,
            f"there are too many components: two would be {gain:,.0f} nats more probable as one.",
        )
    bad = [NAMES[name] for name, part in known.items() if not settled(part, chains)]
    if bad:
        return False, f"the chain has not settled yet (see the {' and the '.join(bad)})."
    if len(known) < len(figures):
        return (
            None,
            "no row ever changed its component, so nothing tells whether the chain is "
            "stuck or the partition beyond doubt.",
        )
    if not all(right_spread(part) for part in figures.values()):
        return False, "the experts are not as wide as their law says (see Stein's ratio)."
    if chains > 1:
        return True, "the chains have settled, by every quantity that was watched."
    return (
        True,
        "the chain has settled, by every quantity that was watched; whether other starts arrive "
        "there, only several chains can tell.",
    )


def _mixture_figures(context: Context) -> dict[str, dict[str, float]]:
    """Figures of every quantity that varies, by name."""
    found = context.estimator.diagnostics_
    if not found:
        chains = np.atleast_2d(context.estimator.n_components_).astype(float)
        return trace_report({"components": chains})
    fixed = getattr(context.estimator, "concentration", None) != "learn"
    varying = [name for name in NAMES if not (fixed and name == "concentration")]
    return {name: found[name] for name in varying if name in found}


def components(context: Context) -> Markup:
    """Verdict, figures and traces of an infinite mixture."""
    estimator = context.estimator
    good, sentence = components_verdict(context)
    parts = [verdict(good, sentence)]
    if not good:
        parts += [tag("h3", "What to do"), paragraph(_advice(estimator))]
    figures = _mixture_figures(context)
    if figures:
        rows = [
            [NAMES[name], _cell(part["r_hat"], ".3f"), _cell(part["effective_draws"], ",.0f")]
            for name, part in figures.items()
        ]
        columns = ["quantity", "R-hat", "effective sweeps"]
        parts.append(table("Quantities that do not depend on labels", columns, rows, plain=True))
    moved = estimator.diagnostics_.get("moved")
    if moved is not None:
        parts.append(paragraph(f"{100.0 * moved:.1f}% of the rows change component in a sweep."))
    if EXPERTS in figures:
        ratio, error = figures[EXPERTS]["mean"], figures[EXPERTS]["error"]
        parts.append(
            paragraph(
                f"Stein's ratio of the experts' weights is {ratio:.3f} with an error of "
                f"{error:.3f}: one if they are as wide as their law says."
            )
        )
    chains = np.atleast_2d(estimator.n_components_).astype(float)
    if len(chains) == 1:
        parts.append(note("One chain only: R-hat compares its halves, not independent starts."))
    panels = [("number of components", _trace(chains, "components"))]
    concentration = getattr(estimator, "concentration_", None)
    if concentration is not None and np.ptp(concentration) > 0:
        panels.append(("concentration", _trace(np.atleast_2d(concentration), "concentration")))
    parts += [tag("h3", "Traces"), choice("Trace of the", panels)]
    return join(parts)


def _advice(estimator: Any) -> str:
    found = estimator.diagnostics_
    if found.get("moved") == 0.0:
        return f"Fit again with another random_state and compare; {LET_ROWS_MOVE}."
    if too_many(found):
        return (
            "joining='eager' joins such components early in the chain. Compare the accuracy of "
            "both: where Gaussians do not fit the rows, fewer components may classify worse."
        )
    if not found.weights_move:
        return "Pass a smaller step of the trajectories, which are too long to be accepted."
    burn_in = (
        " (half of them are burn-in)" if getattr(estimator.sampler, "burn_in", None) is None else ""
    )
    several = ", and start several chains with n_chains: predictions average over them"
    return (
        f"Raise n_sweeps{burn_in}{several if hasattr(estimator, 'n_chains') else ''}. If accuracy "
        "no longer changes with more sweeps, the predictions can be used even though the number "
        "of components still wanders."
    )


def _cell(value: float, style: str) -> Cell:
    """A figure that may be unknown, or larger than anything worth printing."""
    words = "unknown" if math.isnan(value) else f"{value:{style}}" if value < 1e6 else "huge"
    return Cell(words, value if math.isfinite(value) else 0.0)


def _trace(chains: FloatArray, name: str, unit: str = "sweep after burn-in") -> Markup:
    chart = charts.traces(chains, unit, name, f"Trace of {name}, chains: {len(chains)}.")
    return figure(chart, f"One line a chain; mean {number(float(chains.mean()))}.")


def topics_verdict(context: Context) -> tuple[bool | None, str]:
    """Whether the draws of a topic model still drift."""
    found = context.diagnostics
    sentence = str(found)
    return found.trustworthy, sentence[0].lower() + sentence[1:]


def topics(context: Context) -> Markup:
    """Verdict and traces of a topic model."""
    good, sentence = topics_verdict(context)
    panels, rows = [], []
    found = context.diagnostics
    for name, chains in context.topic_traces.items():
        panels.append((name, _trace(chains, name, "kept draw")))
        part = found[name]
        rows.append([name, part["mean"], Cell(f"{100 * part['drift']:.1f}%", part["drift"])])
    parts = [
        verdict(good, sentence),
        table("Halves of the chains compared", ["quantity", "mean", "drift"], rows, plain=True),
        paragraph(
            "A topic posterior has many modes, and chains find different ones; that is why R-hat, "
            "which asks chains to agree, is not shown. Predictions average over the chains. "
            "Whether the topics are any good, held-out accuracy and the word lists say better."
        ),
        choice("Trace of the", panels),
    ]
    return join(parts)
