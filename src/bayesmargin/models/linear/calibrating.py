"""Probabilities of a linear model: its calibration map from some of the training rows."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.calibration.label_links import LabelLinks, together
from bayesmargin.calibration.leading import leader_of, variance_to_leader
from bayesmargin.calibration.leave_one_out import (
    SlackFacts,
    leave_one_out,
    leave_one_out_jointly,
    without_rows,
)
from bayesmargin.calibration.maps import MAX_ROWS, Link, fit_link
from bayesmargin.engines.choosing import worth_slacks
from bayesmargin.foundation.threads import n_threads
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.fitting import LinearData, split_weights
from bayesmargin.models.linear.scores import draw_scores, rows_at_a_time
from bayesmargin.models.linear.spread import score_variance
from bayesmargin.rows.files import FileRows

THREADS = 4  # at most, of the calibration
CALIBRATION_WEIGHTS = 1 << 29  # weights that calibration reads, all draws together
CALIBRATED_SCORES = 4e8  # of all rows and draws, from which fewer rows than given are read,
FEWEST_CALIBRATED = 2000  # though no fewer than these
CALIBRATION_SCORES = 8_000_000  # scores that it weighs, if that leaves it some hundred draws


def some_rows(data: LinearData, rng: np.random.Generator) -> LinearData:
    """Training rows in memory, at most 20,000 chosen at random, for what follows the sampling."""
    n_rows = data.values.shape[0]
    if not isinstance(data.values, FileRows):
        chosen = rng.choice(n_rows, min(n_rows, MAX_ROWS), replace=False, shuffle=False)
        return replace(data.at(chosen), n_all=data.n_all or n_rows)
    chosen, values = data.values.sample(MAX_ROWS, rng)
    data.values.kept = None
    number = None if data.number is None else data.number[chosen]
    label, weight = data.label[chosen], data.weight[chosen]
    return LinearData(values, label, weight, data.n_classes, n_all=n_rows, number=number)


def calibrate(
    data: LinearData,
    weights: FloatArray,
    settings: Any,
    before: Link | None = None,
) -> tuple[Link, LeftOutForecasts]:
    """Probability link from leave-one-out scores of training rows, those of :func:`some_rows`.

    With it the forecasts of these rows, each left out in turn.

    A row of weight two counts as two rows here too, of which one is left out. Weights that are
    smaller than one on average count relative to one another. ``before`` is the link that earlier
    rows of the same model taught.
    """
    flat = weights.reshape(-1, weights.shape[-1])
    n_rows, n_blocks = data.values.shape[0], 1 if data.n_classes == 2 else data.n_classes
    affordable = _affordable_draws(flat, min(n_rows, MAX_ROWS) * n_blocks)
    if affordable < len(flat):
        flat = flat[np.linspace(0, len(flat) - 1, affordable).astype(int)]
    most = max(FEWEST_CALIBRATED, int(CALIBRATED_SCORES / (len(flat) * n_blocks)))
    if most < n_rows:
        data = data.at(np.linspace(0, n_rows - 1, most).astype(int))
        n_rows = most
    coef, intercept = split_weights(flat, n_blocks, settings.fit_intercept)
    step = min(2000, rows_at_a_time(flat.shape[0] * n_blocks, flat.dtype == np.float32))
    threads = 1  # products of dense rows have threads of their own
    if sparse.issparse(data.values):  # smaller steps: several are held at once, whatever n_jobs
        threads, step = n_threads(settings.n_jobs, THREADS), max(1, step // THREADS)
    on_device = _joint(data, settings) and worth_slacks(data.values, n_rows * len(flat) * n_blocks)
    step = n_rows if on_device else step

    def left_out(start: int) -> tuple[FloatArray, FloatArray]:
        rows = slice(start, start + step)
        return _left_out(data, rows, (coef, intercept), settings, on_device)

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(left_out, range(0, n_rows, step)))
    mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
    return linked(data, mean, variance, settings, before)


def linked(
    data: LinearData,
    mean: FloatArray,
    variance: FloatArray,
    settings: Any,
    before: Link | None = None,
) -> tuple[Link, LeftOutForecasts]:
    """The link that suits scores of rows left out, and the forecasts that follow."""
    number = data.weight if data.number is None else data.number
    typical = min(1.0, number.mean())
    cost, weight = settings.C * typical, data.weight / typical
    if data.number is not None:  # classes that count more bring no further rows
        weight *= number.sum() / data.weight.sum()
    link = fit_link(mean, variance, data.label, weight, cost, settings.margin, before)
    widest = variance if variance.ndim == 1 else variance.max(axis=1)
    forecasts = LeftOutForecasts(
        link.probabilities(mean, variance),
        data.label.astype(np.int32),
        number / typical,
        np.sqrt(widest),
        None if data.place is None else data.place.astype(np.int32),
    )
    return link, forecasts


def calibrate_labels(
    data: LinearData, weights: FloatArray, settings: Any
) -> tuple[LabelLinks, LeftOutForecasts]:
    """The same for label sets, whose labels are told apart one by one."""
    count = data.label.shape[1]
    each = weights.reshape(*weights.shape[:-1], count, -1)
    parts: list[Any] = [
        calibrate(data.of_label(k), np.ascontiguousarray(each[..., k, :]), settings)
        for k in range(count)
    ]
    return together(parts)


def _affordable_draws(flat: FloatArray, scores_per_draw: int) -> int:
    """Draws that calibration reads: more with few rows, fewer with millions of weights."""
    useful = max(400, CALIBRATION_SCORES // scores_per_draw)
    return min(len(flat), useful, max(32, CALIBRATION_WEIGHTS // flat.shape[1]))


def left_out_on_device(
    values: FloatArray,
    label: IntArray,
    draws: tuple[FloatArray, FloatArray],
    margin: float,
    cost: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """:func:`leave_one_out_jointly` of rows whose scores would be too many for the host."""
    from bayesmargin.engines.predicting import spread_of_scores
    from bayesmargin.engines.slacks import slack_facts

    count = len(draws[0])

    def spread_to(leader: IntArray) -> FloatArray:
        return (count - 1) / count * spread_of_scores(values, *draws, leader)

    facts = SlackFacts(*slack_facts(values, draws, label, margin))
    return without_rows(facts, cost, spread_to)


def _joint(data: LinearData, settings: Any) -> bool:
    """Whether the classes share a hinge."""
    return data.n_classes > 2 and settings.multi_class == "crammer_singer"


def _left_out(
    data: LinearData,
    index: slice,
    draws: tuple[FloatArray, FloatArray],
    settings: Any,
    on_device: bool,
) -> tuple[FloatArray, FloatArray]:
    """Leave-one-out scores and variances, as the link takes them, of some rows."""
    values = data.values[index]
    label, weight = data.label[index], data.weight[index]
    number = weight if data.number is None else data.number[index]
    cost = settings.C * weight / np.maximum(number, 1.0)
    unseen = np.zeros(len(label)) if data.unseen is None else data.unseen[index]
    own = np.arange(data.n_classes) == label[:, None]
    if on_device:
        return left_out_on_device(values, label, draws, settings.margin, cost)
    if _joint(data, settings):
        scores = draw_scores(values, *draws)
        rival = np.where(own, -np.inf, scores).max(axis=2)
        slack = settings.margin + rival - scores[:, own]
        mean, variance = leave_one_out_jointly(scores, slack, cost)
        rest = np.broadcast_to(unseen[:, None], mean.shape)
        return mean, variance + variance_to_leader(rest, leader_of(mean))
    own = own[:, 1:] if data.n_classes == 2 else own
    coef, intercept = (part.mean(axis=0) for part in draws)
    mean, variance = leave_one_out(
        values @ coef.T + intercept,
        score_variance(values, *draws),
        np.where(own, 1.0, -1.0),
        settings.margin,
        np.broadcast_to(cost[:, None], own.shape),
    )
    variance += unseen[:, None]
    if data.n_classes == 2:
        return mean[:, 0], variance[:, 0]
    return mean, variance_to_leader(variance, leader_of(mean))
