"""Diagnostics in plain words, a verdict first, and traces to look at."""

import math
from typing import Any

import numpy as np

from bayesmargin.diagnostics.assessment import FEWEST
from bayesmargin.diagnostics.bars import FEWEST_EFFECTIVE, TOLERATED_BIAS, TOLERATED_RHAT
from bayesmargin.diagnostics.convergence import bulk_ess, rhat
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
    number,
    paragraph,
    table,
    tag,
    verdict,
)
from bayesmargin.report.sections import chain_traces, tables
from bayesmargin.report.sections.weight_draws import WeightDraws, strength_of, weight_draws

STRONGEST, WORST = 12, 8  # weights whose traces are shown
LOOKED_AT = 512  # weights whose R-hat is computed to find the worst


def write(context: Context) -> Markup:
    """The verdict, what to do if it is bad, the figures explained, traces."""
    if context.kind in ("linear", "kernel", VALUES):
        return _linear(context)
    if context.of_items:
        return tables.trust(context)
    if context.kind == "topics":
        return chain_traces.topics(context)
    return chain_traces.components(context)


def summary(context: Context) -> tuple[bool | None, str]:
    """Verdict and sentence for the head of the page."""
    if context.kind in ("linear", "kernel", VALUES):
        found = context.estimator.diagnostics_
        if found.trustworthy:
            return True, "the chains agree with each other and with the target."
        return False, f"this posterior should not be trusted, because {found.reason}."
    if context.of_items:
        return tables.trust_verdict(context)
    if context.kind == "topics":
        return chain_traces.topics_verdict(context)
    return chain_traces.components_verdict(context)


def _linear(context: Context) -> Markup:
    found = context.estimator.diagnostics_
    good, sentence = summary(context)
    parts = [verdict(good, sentence)]
    advice = _advice(found)
    if advice:
        parts.append(tag("h3", "What to do"))
        parts.append(tag("ul", *(tag("li", line) for line in advice)))
    rows = _checks(found, context.estimator.posterior_.n_chains)
    checks = [[*row[:3], tag("span", row[3], class_="reason")] for row in rows]
    columns = ["check", "value", "good", "meaning"]
    parts.append(table("Checks", columns, checks, plain=True))
    parts += [tag("h3", "Traces"), _traces(context)]
    return join(parts)


def _advice(found: Any) -> list[str]:
    lines = []
    if found.interrupted:
        lines.append("The run was stopped before its end: fit again in full.")
    elif not found.converged:
        lines.append(
            'Raise n_draws, scale the features to similar size, and use sampler="auto", which '
            "hands over to an exact sampler when its own checks fail."
        )
    elif not found.trustworthy:
        lines.append(
            'Use a smaller step or a larger batch_size, or sampler="auto": the sampled spread '
            f"is off by about {100 * found.bias:+.0f}%."
        )
    if found.divergences:
        lines.append(
            f"The step was halved {found.divergences} time(s). The draws can be used; where "
            "features differ in scale, scaling them makes the fit faster."
        )
    return lines


def _checks(found: Any, n_chains: int) -> list[list[Any]]:
    """Name, value, mark and meaning of every check; "no" only where the verdict says no as well."""
    needed = FEWEST_EFFECTIVE * n_chains
    bias = abs(found.bias) if math.isfinite(found.bias) else math.nan
    heat = abs(found.temperature - 1.0)
    return [
        [
            "R-hat (worst)", found.max_rhat, _mark(found.max_rhat, found.max_rhat < TOLERATED_RHAT),
            f"Do chains tell the same story? 1 is perfect; below {TOLERATED_RHAT} is good.",
        ],
        [
            "effective draws, centre", float(np.round(found.min_bulk_ess)),
            _mark(found.min_bulk_ess, found.min_bulk_ess > needed),
            "Independent draws that the chains are worth, in the direction of the weights that has "
            f"the fewest. More than {needed} show that the chains move; with 100 means are "
            "accurate to a tenth of a standard deviation.",
        ],
        [
            "effective draws, tails", float(np.round(found.min_tail_ess)),
            _mark(found.min_tail_ess, found.min_tail_ess > needed, "few"),
            "The same for the ends of the intervals, which need about 400 to be accurate.",
        ],
        [
            # The verdict allows for the error of the bias itself.
            "bias of the variance", found.bias,
            _mark(bias, bias <= TOLERATED_BIAS or found.trustworthy),
            "Relative error of the spread against the target, by an identity that exact draws "
            "satisfy. 0 is perfect.",
        ],
        [
            "effective temperature", found.temperature,
            _mark(found.temperature, heat <= TOLERATED_BIAS or found.trustworthy),
            "1 is exact; 1.1 means variances 10% too large.",
        ],
        [
            "divergences", found.divergences, _mark(0.0, not found.divergences, "harmless"),
            "How often the step had to be halved.",
        ],
        ["iterations", found.n_iterations, "", f"Of all chains, in {number(found.seconds)} s."],
    ]  # fmt: skip


def _mark(value: float, good: bool, otherwise: str = "✗ no") -> Markup:
    words = "unknown" if not math.isfinite(value) else "✓ yes" if good else otherwise
    return tag("span", words, class_="word")


def _traces(context: Context) -> Markup:
    draws = weight_draws(context.estimator)
    if draws.shape[1] < FEWEST:
        return note(f"Fewer than {FEWEST} draws a chain: too few to look at.")
    panels, rows = [], []
    for block, feature in _watched(draws):
        chains = draws.of([feature])[:, :, block, 0]
        own = context.kind != "kernel"
        label = context.feature_names[feature] if own else f"component {feature}"
        if draws.shape[2] > 1:
            label = f"{context.class_names[block]}: {label}"
        worst, size = float(rhat(chains)), float(bulk_ess(chains))
        chart = charts.traces(
            chains, "draw", "weight",
            f"Traces of {len(chains)} chains; R-hat {worst:.3f}, {size:.0f} effective draws.",
        )  # fmt: skip
        panels.append((label, figure(chart, _caption(worst, size))))
        mean, sd = float(chains.mean()), float(chains.std())
        rows.append([Cell(name_of(label)), mean, sd, Cell(f"{worst:.3f}", worst), round(size)])
    less = " Weights are shown less their mean over the classes." if draws.relative else ""
    return join(
        [
            paragraph(
                "Good traces look like grass: all chains over the same range, no trend. Shown are "
                f"the weights with the worst R-hat and those that stand out most.{less}"
            ),
            choice("Trace of", panels),
            table("Weights watched", ["weight", "mean", "sd", "R-hat", "effective draws"], rows),
        ]
    )


def _caption(worst: float, size: float) -> str:
    word = "The chains agree" if worst < TOLERATED_RHAT else "The chains do not agree"
    return f"{word}: R-hat {worst:.3f}, {size:,.0f} effective draws. One line a chain."


def _watched(draws: WeightDraws) -> list[tuple[int, int]]:
    """Worst and strongest weights as (block, feature); the worst of an even selection."""
    blocks, features = draws.shape[2:]
    count = min(features, max(1, LOOKED_AT // blocks))
    some = np.unique(np.linspace(0, features - 1, count).astype(int))
    spoilt = -rhat(draws.of(some).reshape(*draws.shape[:2], -1))
    order = np.argsort(spoilt, kind="stable")[:WORST]
    worst = [(int(k // len(some)), int(some[k % len(some)])) for k in order]
    strength = strength_of(*draws.moments()).ravel()
    strongest = [divmod(int(k), features) for k in np.argsort(-strength, kind="stable")[:STRONGEST]]
    return list(dict.fromkeys([*worst, *strongest]))
