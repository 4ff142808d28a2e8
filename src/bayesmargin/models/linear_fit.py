"""Fitting a linear model: rows made canonical, one problem or one a class, runs joined."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayesmargin.beliefs import Belief, GaussianBelief, LaplaceBelief
from bayesmargin.calibration import MAX_DRAWS, MAX_ROWS, Link, fit_link, leave_one_out
from bayesmargin.diagnostics import Diagnostics
from bayesmargin.problem import Problem
from bayesmargin.progress import Progress
from bayesmargin.rows.source import DenseSource
from bayesmargin.samplers.base import Sampler
from bayesmargin.sampling import Run, sample
from bayesmargin.types import FloatArray, IntArray

MERGE_LIMIT = 20_000


@dataclass(frozen=True)
class LinearData:
    """Rows, class indices and weights of a fit."""

    values: FloatArray
    label: IntArray
    weight: FloatArray
    n_classes: int


def merged(values: FloatArray, label: IntArray, weight: FloatArray) -> tuple[Any, Any, Any]:
    """Drop rows of weight zero; join equal rows of one class, their weights added.

    The posterior is the same, and a row given twice or with weight two leads to equal draws. Large
    data keep their rows as they are, since finding equal ones would take longer than it saves.
    """
    if np.any(weight == 0.0):
        kept = weight > 0.0
        values, label, weight = values[kept], label[kept], weight[kept]
    if len(values) > MERGE_LIMIT:
        return values, label, weight
    keyed = np.column_stack([values, label])
    unique, place = np.unique(keyed, axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), weights=weight, minlength=len(unique))
    kept_values = np.ascontiguousarray(unique[:, :-1].astype(values.dtype))
    return kept_values, unique[:, -1].astype(label.dtype), total


def prior_belief(kind: str, scale: float, n_weights: int) -> Belief:
    """Prior of independent weights of one scale."""
    if kind == "gaussian":
        return GaussianBelief(np.zeros(n_weights), np.full(n_weights, scale**-2.0))
    return LaplaceBelief(np.full(n_weights, float(scale)))


def make_problem(
    data: LinearData, prior: Belief, cost: float, margin: float, intercept: bool
) -> Problem:
    """The posterior of a linear model on the given rows."""
    return Problem(
        source=DenseSource(data.values, intercept),
        label=data.label,
        n_classes=data.n_classes,
        cost=cost * data.weight,
        margin=float(margin),
        prior=prior,
    )


def joined(runs: Sequence[Run]) -> Run:
    """Runs of one-vs-rest problems as one run with an axis of classes."""
    if len(runs) == 1:
        return runs[0]
    length = min(run.weights.shape[1] for run in runs)
    weights = np.stack([run.weights[:, :length] for run in runs], axis=2)
    return Run(
        weights.reshape(*weights.shape[:2], -1),
        _worst([run.diagnostics for run in runs]),
        {**runs[0].info, "notes": "; ".join(filter(None, (run.info["notes"] for run in runs)))},
    )


def _worst(found: Sequence[Diagnostics]) -> Diagnostics:
    """The worst of every figure; times and counts added."""
    choose: dict[str, Any] = {
        "min_bulk_ess": min,
        "min_tail_ess": min,
        "trustworthy": all,
        "n_iterations": sum,
        "seconds": sum,
        "divergences": sum,
        "bias": lambda values: max(values, key=abs),
    }
    values = {f.name: [getattr(one, f.name) for one in found] for f in fields(Diagnostics)}
    return Diagnostics(**{name: choose.get(name, max)(values[name]) for name in values})


def sample_linear(
    data: LinearData,
    priors: Sequence[Belief],
    settings: Any,
    sampler: Sampler,
    generators: Sequence[np.random.Generator],
    progress: Progress,
) -> Run:
    """Sample one problem, or with several priors one binary problem a class (one-vs-rest)."""
    runs = []
    for k, prior in enumerate(priors):
        part = data
        if len(priors) > 1:
            own = (data.label == k).astype(data.label.dtype)
            part = LinearData(data.values, own, data.weight, 2)
        problem = make_problem(part, prior, settings.C, settings.margin, settings.fit_intercept)
        spawned = [rng.spawn(1)[0] for rng in generators]
        runs.append(sample(problem, sampler, spawned, settings.n_draws, settings.n_jobs, progress))
    return joined(runs)


def design(values: FloatArray, intercept: bool) -> FloatArray:
    """Rows with the constant column that the weights expect."""
    return DenseSource(values, intercept).take(np.arange(len(values)))


def calibrate(
    data: LinearData, weights: FloatArray, settings: Any, rng: np.random.Generator
) -> Link:
    """Probability link from leave-one-out scores of (at most 20,000) training rows."""
    flat = weights.reshape(-1, weights.shape[-1])
    flat = flat[np.linspace(0, len(flat) - 1, min(MAX_DRAWS, len(flat))).astype(int)]
    chosen = rng.permutation(len(data.values))[:MAX_ROWS]
    blocks = np.array_split(chosen, -(-len(chosen) // 2000))
    parts = [_left_out(data, block, flat, settings) for block in blocks]
    scores = np.concatenate(parts)
    weight = data.weight[chosen] / data.weight.mean()
    return fit_link(scores, data.label[chosen], weight, settings.C, settings.margin)


def _left_out(data: LinearData, index: IntArray, flat: FloatArray, settings: Any) -> FloatArray:
    """Leave-one-out scores of some rows."""
    rows = design(data.values[index], settings.fit_intercept)
    label, cost = data.label[index], settings.C * data.weight[index]
    if data.n_classes == 2:
        scores = flat @ rows.T
        hinge = np.maximum(settings.margin - np.where(label == 1, 1.0, -1.0) * scores, 0.0)
        return leave_one_out(scores, hinge, cost)
    matrix = flat.reshape(len(flat), data.n_classes, -1)
    scores = np.einsum("skj,dj->sdk", matrix, rows, optimize=True)
    own = np.take_along_axis(scores, label[None, :, None], axis=2)
    if settings.multi_class == "ovr":
        sign = np.where(np.arange(data.n_classes) == label[:, None], 1.0, -1.0)
        hinge = np.maximum(settings.margin - sign * scores, 0.0).sum(axis=2)
    else:
        rivals = np.where(np.arange(data.n_classes) == label[:, None], -np.inf, scores)
        hinge = np.maximum(settings.margin + rivals.max(axis=2) - own[..., 0], 0.0)
    centred = scores - scores.mean(axis=2, keepdims=True)
    return leave_one_out(centred, hinge, cost)
