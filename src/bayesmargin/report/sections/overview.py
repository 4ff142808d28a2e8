"""What was fitted: data, settings, time and version."""

import json
import platform
from typing import Any

import numpy as np

import bayesmargin
from bayesmargin.models.mixtures.components import kept_draws
from bayesmargin.report.context import VALUES, Context, entry_of
from bayesmargin.report.markup import (
    Markup,
    details,
    join,
    name_of,
    note,
    number,
    short,
    table,
    tag,
)
from bayesmargin.report.sections import tables

LONGEST_DOCUMENT = 4000  # characters of a document saved beside the model


def write(context: Context) -> Markup:
    """Facts, settings that differ from their defaults, and documents saved with the model."""
    rows = [[name, value] for name, value in facts(context)]
    settings = list(_settings(context.estimator))
    parts = [
        tag("p", entry_of(context.estimator).summary),
        table("Facts of the fit", ["fact", "value"], rows, plain=True),
        *(note(remark) for remark in context.remarks),
        details(
            "All settings",
            table("Settings", ["setting", "value", "default"], settings, filterable=True),
        ),
    ]
    for name, document in context.extras.items():
        text = json.dumps(document, indent=1, default=str, ensure_ascii=False)
        cut = text[:LONGEST_DOCUMENT] + ("\n…" if len(text) > LONGEST_DOCUMENT else "")
        parts.append(details(f"Saved with the model: {short(name)}", tag("pre", cut)))
    return join(parts)


def facts(context: Context) -> list[tuple[str, Any]]:
    """Names and values of what there is to know at a glance."""
    estimator = context.estimator
    listed: list[tuple[str, Any]] = [("Model", context.model_name)]
    listed += tables.facts(context) if context.of_items else _columns(context)
    listed.append(("Draws", _draws(context)))
    seconds = _seconds(context)
    if seconds is not None:
        listed.append(("Time spent sampling", f"{number(seconds)} s"))
    changed = [f"{row[0]}={row[1]}" for row in _settings(estimator) if row[1] != row[2]]
    listed.append(("Settings that were changed", short(", ".join(changed) or "none", 300)))
    command = context.extras.get("command")
    if command:
        words = command if isinstance(command, str) else _command(command)
        listed.append(("Command", tag("code", short(words, 300))))
    versions = f"bayesmargin {bayesmargin.__version__}, Python {platform.python_version()}"
    listed.append(("Report written by", versions))
    return listed


def _columns(context: Context) -> list[tuple[str, Any]]:
    """Features, classes, and rows that took no part in the fit."""
    names = [name_of(name, 24) for name in context.class_names[:8]]
    more = len(context.class_names) - len(names)
    shown = join(item for k, name in enumerate(names) for item in ((", ", name) if k else (name,)))
    suffix = f" and {more} more" if more else ""
    word = "Lines" if context.kind == VALUES else "Classes"
    return [
        ("Features", number(context.estimator.n_features_in_)),
        (f"{word} ({len(context.class_names)})", join([shown, suffix])),
        ("Held-out rows in this report", _held_out(context)),
    ]


def _command(document: Any) -> str:
    if isinstance(document, list | tuple):
        return " ".join(str(word) for word in document)
    return json.dumps(document, default=str, ensure_ascii=False)


def _held_out(context: Context) -> str:
    held = context.held_values or context.held_out
    if held is None:
        return "none"
    word = "values" if context.kind == VALUES else "labels"
    labels = f"without {word}" if held.truth is None else f"with {word}"
    return f"{len(held.rows):,} {labels}"


def _draws(context: Context) -> str:
    estimator = context.estimator
    if context.kind in ("linear", "kernel", VALUES) or context.of_items:
        posterior = estimator.posterior_
        return f"{_chains(posterior.n_chains)} of {posterior.n_draws:,}"
    if context.kind == "topics":
        chains = estimator.posterior_
        return f"{len(chains)} sets of topics, {len(chains[0].coef)} draws each"
    chains = np.atleast_2d(estimator.n_components_)
    kept = len(kept_draws(estimator)) // len(chains)
    return f"{_chains(len(chains))}, {kept} kept of {chains.shape[1]:,} sweeps after burn-in"


def _chains(number: int) -> str:
    return "1 chain" if number == 1 else f"{number} chains"


def _seconds(context: Context) -> float | None:
    if hasattr(context.diagnostics, "seconds"):
        return float(context.diagnostics.seconds)
    timings = getattr(context.estimator, "timings_", None)
    if not timings:
        return None
    return float(timings.get("total", sum(timings.values())))


def _settings(estimator: Any) -> list[list[str]]:
    defaults = type(estimator)().get_params(deep=False)
    return [
        [name, short(repr(value), 80), short(repr(defaults[name]), 80)]
        for name, value in sorted(estimator.get_params(deep=False).items())
    ]
