"""Parts of :mod:`gpu_heads` that need no head of their own: a law, predictions, streamed rows."""

import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import jax
import numpy as np

from bayesmargin import BayesianLinearSVC
from bayesmargin.engines import loading, predicting, samplers
from bayesmargin.engines.samplers import ArraySampler
from bayesmargin.models.linear.scores import mean_scores
from bayesmargin.posterior import Posterior
from bayesmargin.samplers import SSGNHT, SubgradientHMC
from laws import apart, contrasts

MOST_BYTES = 2e9
TILES = 64  # in which the law of batches is looked at
BATCH = 16_000  # rows of a step for which they travel


def memory_stats() -> dict[str, int]:
    """What the device says of its memory; nothing of a CPU. Peaks are those of the process."""
    return jax.devices()[0].memory_stats() or {}


def fitted(data: Any, **settings: Any) -> tuple[BayesianLinearSVC, float]:
    """A model and the seconds that it took."""
    start = time.perf_counter()
    settings = {"prior_scale": "auto", "engine": "jax", "random_state": 0, **settings}
    model = BayesianLinearSVC(**settings).fit(*data[:2])
    return model, time.perf_counter() - start


def law(data: Any, n_draws: int) -> dict[str, Any]:
    """Means and variances of all weights against exact HMC, in standard deviations.

    So few rows are one tile, all of which every gradient reads; once they are cut into many.
    """
    kinds = {
        "hmc": ArraySampler(SubgradientHMC()),
        "float32": ArraySampler(SSGNHT()),
        "bfloat16": ArraySampler(SSGNHT(), "bfloat16"),
        "batches": ArraySampler(SSGNHT()),
    }
    few = 4 * len(data[0]) * (int(data[1].max()) + 1) // TILES
    truth, facts, met = None, {}, True
    for name, sampler in kinds.items():
        room = dict.fromkeys(loading.SCORES, few) if name == "batches" else {}
        with mock.patch.dict(loading.SCORES, room):
            model, took = fitted(data, sampler=sampler, n_draws=n_draws)
        facts[f"{name}_seconds"], facts[f"{name}_ess"] = took, model.diagnostics_.min_bulk_ess
        facts[f"{name}_batch"] = model.posterior_.attrs["batch_size"]
        facts[f"{name}_noise"] = model.posterior_.attrs["gradient_noise"]
        facts[f"{name}_bias"] = model.diagnostics_.bias
        if truth is None:
            truth = contrasts(model)
            continue
        found = apart(truth, contrasts(model))
        facts[f"{name}_mean_beyond_error"], facts[f"{name}_variance"] = found[0], found[2]
        facts[f"{name}_variance_error"] = found.doubt
        met = met and found.met
    return {"met": met, **facts}


def predictions(n_rows: int, n_features: int, n_classes: int, n_draws: int) -> dict[str, Any]:
    """Scores of rows and their deviations under drawn weights: seconds, and bytes beside them."""
    rng = np.random.default_rng(0)
    coef = rng.standard_normal((4, n_draws, n_classes, n_features), dtype=np.float32)
    model = BayesianLinearSVC()
    model.classes_, model.n_features_in_ = np.arange(n_classes), n_features
    model.coef_, model.intercept_ = coef.mean(axis=(0, 1)), np.zeros(n_classes)
    model.posterior_ = Posterior(
        {"coef": coef, "intercept": np.zeros((4, n_draws, n_classes), np.float32)},
        {"coef": ("class", "feature"), "intercept": ("class",)},
        {"feature": list(range(n_features)), "class": list(range(n_classes))},
        {},
    )
    rows = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        model.decision_function(rows, return_std=True)
        times.append(time.perf_counter() - start)
    parts = parts_of_predictions(model, rows)
    tracemalloc.start()
    _, deviation = model.decision_function(rows, return_std=True)
    host = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    device = memory_stats().get("peak_bytes_in_use", 0)
    flat = coef.reshape(-1, n_classes, n_features)
    truth = (flat @ rows[0].astype(float)).std(axis=0, ddof=1)
    off = float(np.max(np.abs(deviation[0] / truth - 1.0)))
    return {"seconds": times[1], "first": times[0], "third": times[2], "draws": 4 * n_draws,
            "host_gb": host / 1e9, "device_gb": device / 1e9, "largest_error": off,
            "seconds_of_parts": parts,
            "met": max(host, device) < MOST_BYTES and off < 0.02}  # fmt: skip


def parts_of_predictions(model: BayesianLinearSVC, rows: np.ndarray) -> dict[str, float]:
    """Seconds of what predictions with deviations are made of, one after another, as they repeat.

    ``host product`` is what the scores would take on the cores of this process.
    """
    coef, intercept = model.posterior_.flat("coef"), model.posterior_.flat("intercept")
    mean = np.asarray(model.coef_), np.asarray(model.intercept_)
    away = predicting.at_hand(coef, intercept)
    piece = min(len(rows), predicting.SCORES // len(mean[1]))
    share = np.float32(1.0 / len(coef))
    there = jax.block_until_ready(jax.device_put(rows[:piece]))
    works: dict[str, Callable[[], Any]] = {
        "rows checked": lambda: model._rows(rows),
        "host product": lambda: mean_scores(rows, *mean),
        "draws found": lambda: predicting.at_hand(coef, intercept),
        "a piece there": lambda: jax.block_until_ready(jax.device_put(rows[:piece] + 0.0)),
        "squares of a piece": lambda: jax.block_until_ready(
            predicting._squares(there, away, None, share)
        ),
        "scores of a piece": lambda: jax.block_until_ready(predicting._scores(there, *mean)),
        "a piece back": lambda: np.asarray(predicting._scores(there, *mean)),
        "tables": lambda: [np.sqrt(np.zeros((len(rows), len(mean[1])), np.float32) + 1.0)],
    }
    found = {"pieces": len(rows) / piece}
    for name, work in works.items():
        for _ in range(2):
            start = time.perf_counter()
            work()
            found[name] = time.perf_counter() - start
    return found


def streamed(data: Any, n_draws: int) -> dict[str, Any]:
    """A fit whose rows stay with the host, and one whose rows are on the device, compared."""
    sampler = ArraySampler(SSGNHT(burn_in=1500, thin=30))
    there, seconds = fitted(data, sampler=sampler, n_draws=n_draws)
    with mock.patch.object(samplers, "require_memory", return_value=(0.0, True)):
        model, took = fitted(data, sampler=sampler, n_draws=n_draws)
    found = apart(contrasts(there), contrasts(model))
    transitions = model.diagnostics_.n_iterations / model.n_chains
    return {"seconds": took, "seconds_on_device": seconds, "mean_beyond_error": found.means,
            "chance": found.chance, "variance": found.variances,
            "ms_a_transition": 1e3 * took / transitions,
            "batch_size": model.posterior_.attrs["batch_size"],
            "met": bool(model.posterior_.attrs["rows_streamed"]) and found.met}  # fmt: skip


def streamed_at_size(data: Any) -> dict[str, Any]:
    """Rows of a large head stay with the host: seconds of its passes and steps, not a whole fit."""
    sampler = ArraySampler(SSGNHT(burn_in=10, thin=1, batch_size=BATCH), "bfloat16")
    with (
        warnings.catch_warnings(),
        mock.patch.object(samplers, "require_memory", return_value=(0.0, True)),
    ):
        warnings.simplefilter("ignore")
        model, took = fitted(data, sampler=sampler, n_draws=30)
    attrs = model.posterior_.attrs
    return {"fit_seconds": took, "anchor_passes": attrs["anchor_passes"],
            "batch_size": attrs["batch_size"], "met": bool(attrs["rows_streamed"]),
            "gigabytes": 1e-9 * memory_stats().get("peak_bytes_in_use", 0)}  # fmt: skip
