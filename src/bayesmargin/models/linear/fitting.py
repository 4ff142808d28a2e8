"""Fitting a linear model: rows made canonical, one problem or one a class, runs joined."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.engines.choosing import sampler_for
from bayesmargin.foundation.storage import draw_array
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.one_vs_rest import all_classes
from bayesmargin.models.linear.weighing import class_factors
from bayesmargin.priors.moments import Belief
from bayesmargin.rows.alike import equal_rows, many_equal_rows
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.source import DenseSource, RowSource
from bayesmargin.rows.sparse import DENSE_COLUMNS, SparseSource
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress
from bayesmargin.running.run import Run, sample
from bayesmargin.running.statistics import together
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.row_space import row_space

MERGE_LIMIT = 20_000


@dataclass(frozen=True)
class LinearData:
    """Rows (a matrix, a canonical CSR matrix or an opened file), class indices and weights.

    Of one class, which is none, labels are the values of a regression, one or several a row. Label
    sets are an indicator (row, class).
    """

    values: Any
    label: Any
    weight: FloatArray
    n_classes: int
    groups: IntArray | None = None
    """Numbers of the groups of rows that belong together."""
    n_all: int | None = None
    """Rows of which these were chosen at random; None: they are all."""
    number: FloatArray | None = None
    """Rows that each stands for, where that is not its weight: classes may be emphasised."""
    place: IntArray | None = None
    """Where each row that was given is now, -1 for none; None where nobody asks."""
    unseen: FloatArray | None = None
    """Variance of each row's score that no feature shows; None: there is none."""

    @property
    def counts(self) -> FloatArray:
        """Rows that each stands for. Where they are less than one on average, they are relative."""
        number = self.weight if self.number is None else self.number
        return number / min(1.0, float(number.mean()))

    def of_label(self, k: int) -> "LinearData":
        """One class against the others, or a label of label sets: two classes."""
        one = self.label[:, k] if self.label.ndim > 1 else self.label == k
        return replace(self, label=one.astype(self.label.dtype), n_classes=2)

    def at(self, index: Any) -> "LinearData":
        """Some of the rows, their groups numbered afresh."""
        groups = self.groups
        if groups is not None:
            groups = np.unique(groups[index], return_inverse=True)[1]
        number = None if self.number is None else self.number[index]
        values, label, weight = self.values[index], self.label[index], self.weight[index]
        place = None
        if self.place is not None:
            kept = np.full(len(self.label), -1)
            kept[index] = np.arange(len(label))
            place = self.moved_to(kept)
        rest = None if self.unseen is None else self.unseen[index]
        facts = (self.n_classes, groups, self.n_all, number, place, rest)
        return LinearData(values, label, weight, *facts)

    def moved_to(self, new: IntArray) -> IntArray | None:
        """``place`` once every row has moved to its new number."""
        if self.place is None:
            return None
        return np.where(self.place >= 0, new[self.place], -1)


def emphasised(data: LinearData, class_weight: Any, classes: Any) -> LinearData:
    """The rows with the weights of their classes."""
    if class_weight is None:
        return data
    factors = class_factors(class_weight, classes, data.label, data.weight)
    return replace(data, weight=data.weight * factors[data.label], number=data.weight)


def merged(data: LinearData) -> LinearData:
    """Drop rows of weight zero; join equal rows of one class, their weights added.

    The posterior is the same, and a row given twice or with weight two leads to equal draws. Large
    data keep their rows as they are, since finding equal ones would take longer than it saves: but
    for sparse ones of few columns, where many are equal. So do rows that come in groups.
    """
    values, label, weight = data.values, data.label, data.weight
    if isinstance(values, FileRows):
        return data
    if np.any(weight == 0.0):
        data = data.at(weight > 0.0)
        values, label, weight = data.values, data.label, data.weight
    several = label.ndim > 1  # values a row, or a set of labels
    if data.groups is not None or (several and sparse.issparse(values)):
        return data
    if sparse.issparse(values):
        alike = equal_rows if values.shape[0] <= MERGE_LIMIT else many_equal_rows
        narrow = values.shape[0] <= MERGE_LIMIT or values.shape[1] < DENSE_COLUMNS
        found = alike(values, label) if narrow else None
        if found is None:
            return data
        first, place = found
        total = np.bincount(place, weights=weight).astype(float)
        there = data.moved_to(place)
        return LinearData(values[first], label[first], total, data.n_classes, place=there)
    if values.shape[0] > MERGE_LIMIT:
        return data
    keyed = np.column_stack([values, label])
    unique, place = np.unique(keyed, axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), weights=weight, minlength=len(unique)).astype(float)
    kept = np.ascontiguousarray(unique[:, : values.shape[1]].astype(values.dtype))
    own = unique[:, values.shape[1] :] if several else unique[:, -1]
    label, there = own.astype(label.dtype), data.moved_to(place.ravel())
    return LinearData(kept, label, total, data.n_classes, place=there)


def source_of(values: Any, intercept: bool) -> RowSource:
    """Rows of a matrix, a CSR matrix or a file as a source."""
    if isinstance(values, FileRows):
        return values.source(intercept)
    if sparse.issparse(values):
        return SparseSource(values, intercept)
    return DenseSource(values, intercept)


def make_problem(
    data: LinearData, prior: Belief, cost: float, margin: float, intercept: bool
) -> Problem:
    """The posterior of a linear model on the given rows."""
    return Problem(
        source=source_of(data.values, intercept),
        label=data.label,
        n_classes=data.n_classes,
        cost=_scaled(data.weight, cost),
        margin=float(margin),
        prior=prior,
    )


def _scaled(weight: FloatArray, factor: float) -> FloatArray:
    """Product with a number; one weight repeated for every row stays one number in memory."""
    if weight.strides == (0,):
        return np.broadcast_to(factor * weight[:1], weight.shape)
    return factor * weight


def joined(runs: Sequence[Run]) -> Run:
    """Runs of one-vs-rest problems as one run with an axis of classes."""
    if len(runs) == 1:
        return runs[0]
    length = min(run.weights.shape[1] for run in runs)
    n_chains, _, size = runs[0].weights.shape
    shape = (n_chains, length, len(runs) * size)
    weights = draw_array(shape) if runs[0].moments else np.empty(shape)
    for k, run in enumerate(runs):
        weights[..., k * size : (k + 1) * size] = run.weights[:, :length]
    notes = "; ".join(filter(None, (run.info["notes"] for run in runs)))
    known = [run.moments for run in runs if run.moments is not None]
    moments = None
    if known:
        moments = (np.concatenate([m for m, _ in known]), np.concatenate([v for _, v in known]))
    return Run(
        weights,
        _worst([run.diagnostics for run in runs]),
        {**runs[0].info, "notes": notes},
        moments,
        together([run.statistics for run in runs], length),
    )


def _worst(found: Sequence[Diagnostics]) -> Diagnostics:
    """The worst of every figure; times and counts added."""
    choose: dict[str, Any] = {
        "min_bulk_ess": min,
        "min_tail_ess": min,
        "converged": all,
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
    journal: Journal | None = None,
    glance: Callable[[FloatArray], str] | None = None,
) -> Run:
    """Sample one problem, or with several priors one binary problem a class (one-vs-rest).

    Where it saves time the classes are sampled in one go, which changes nothing else.
    """
    if isinstance(data.values, FileRows):
        data.values.keep(MAX_ROWS, generators[-1])  # for the calibration
    n_scores = 1 if data.n_classes == 2 else data.n_classes
    sampler = sampler_for(settings.engine, sampler, data.values, n_scores, settings.prior)
    runs = []
    for problem in _problems(data, priors, settings, sampler):
        own = glance if problem.n_classes == data.n_classes else None
        runs.append(sample_one(problem, settings, sampler, generators, progress, journal, own))
    return joined(runs)


def sample_one(
    problem: Problem,
    settings: Any,
    sampler: Sampler,
    generators: Sequence[np.random.Generator],
    progress: Progress,
    journal: Journal | None = None,
    glance: Callable[[FloatArray], str] | None = None,
) -> Run:
    """Sample one problem, in the span of its rows where that is smaller."""
    spawned = [rng.spawn(1)[0] for rng in generators]
    space = row_space(problem) if isinstance(sampler, Auto) else None
    small = problem if space is None else space.problem
    run = sample(
        small, sampler, spawned, settings.n_draws, settings.n_jobs, progress, journal,
        glance if space is None else None,  # which the weights in the span would not be
    )  # fmt: skip
    if space is not None:
        run.weights, run.moments = space.lift(run.weights, spawned[-1])
    return run


def _problems(
    data: LinearData, priors: Sequence[Belief], settings: Any, sampler: Sampler
) -> Iterator[Problem]:
    """What there is to sample: one problem of all classes, or with several priors one a class."""
    facts = (settings.C, settings.margin, settings.fit_intercept)
    if len(priors) == 1:
        yield make_problem(data, priors[0], *facts)
        return
    for k, prior in enumerate(priors):
        problem = make_problem(data.of_label(k), prior, *facts)
        together = None
        if k == 0 and data.label.ndim == 1:
            together = all_classes(problem, data.label, priors, sampler)
        if together is not None:
            yield together
            return
        yield problem


def split_weights(
    weights: FloatArray, n_blocks: int, intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Views of the coefficients (..., block, feature) and intercepts (..., block) in weights."""
    matrix = weights.reshape(*weights.shape[:-1], n_blocks, -1)
    if not intercept:
        return matrix, np.zeros(matrix.shape[:-1], dtype=weights.dtype)
    return matrix[..., :-1], matrix[..., -1]
