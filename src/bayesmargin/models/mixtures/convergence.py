"""The verdict on label-invariant traces: split R-hat, effective draws, and one warning."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesmargin.diagnostics.bars import FEWEST_EFFECTIVE, TOLERATED_RHAT
from bayesmargin.diagnostics.convergence import bulk_ess, rhat
from bayesmargin.errors import ConvergenceWarning, StepSizeWarning

_FEWEST_TO_REPORT = 8
_FEWEST_TO_JUDGE = 20
_ROUNDING = 1e-9  # relative changes of a trace below this are none
#: Partitions mix slowly, and predictions are good long before R-hat is below ``TOLERATED_RHAT``, so
#: a fit warns only beyond this, where chains are plainly somewhere else, or still on their way.
WORST_RHAT = 1.5
#: Name of the figures of Stein's identity, whose mean is one if the experts have the right spread;
#: how far it may be from one, beside four of its errors, to be trusted and without a warning.
EXPERTS = "experts"
TOLERATED_SPREAD, WORST_SPREAD = 0.1, 0.25
#: Name of the figure for components that would be more probable as one, in nats: below ten after
#: every sweep of chains that have settled, thousands in chains that are stuck.
JOINING = "joining"
_MOST_JOINING = 25.0
FEWEST_ACCEPTED = 0.2  # share of the trajectories of weights; 0.65 is best, and 0.9 usual here
LET_ROWS_MOVE = (
    "columns of few distinct values, such as 0 and 1, make every combination of their values a "
    "component of its own: leave them out, or keep them from the Gaussians "
    "(covariates='continuous' of InfiniteSVC); and of a hundred columns every component is so sure "
    "of its rows that few leave it: choose among them, or take principal components"
)


def trace_report(
    traces: Mapping[str, np.ndarray], moved: np.ndarray | None = None
) -> dict[str, dict[str, float]]:
    """Mean, split R-hat and effective draws of traces (chains x sweeps); empty if too short.

    ``moved`` are the shares of rows that changed component, likewise. A chain in which none ever
    did has shown one partition only: what stood still with it has neither R-hat nor effective
    draws (NaN), whatever their formulas say. Constants of the model are not passed as traces.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.mixtures.convergence import trace_report
    >>> trace_report({"components": np.arange(6.0)[None]})
    {}
    >>> trace_report({"components": np.full((1, 50), 3.0)}, moved=np.zeros((1, 50)))
    {'components': {'mean': 3.0, 'r_hat': nan, 'effective_draws': nan}}
    """
    stuck = np.zeros(1, bool) if moved is None else np.all(moved == 0.0, axis=1)
    report = {}
    for name, given in traces.items():
        if given.shape[1] < _FEWEST_TO_REPORT:
            continue
        values = _without_rounding(given)
        worst, size = _rhat(values), float(bulk_ess(values))
        still = bool(np.any(stuck & (np.ptp(values, axis=1) == 0.0)))
        if still and not worst > TOLERATED_RHAT:
            worst = size = math.nan
        report[name] = {"mean": float(given.mean()), "r_hat": worst, "effective_draws": size}
    return report


def _without_rounding(values: np.ndarray) -> np.ndarray:
    """Traces without changes that are rounding, of which R-hat would make numbers of any size."""
    finest = _ROUNDING * max(1.0, float(np.abs(values).max()))
    if np.ptp(values) <= finest:
        return np.full_like(values, values[0, 0])
    still = np.ptp(values, axis=1, keepdims=True) <= finest
    return np.where(still, values[:, :1], values)


def _rhat(values: np.ndarray) -> float:
    """Split R-hat; infinite, not huge, for chains that stand still in different places."""
    still = not np.ptp(values, axis=1).any()
    return math.inf if still and np.ptp(values) > 0.0 else float(rhat(values))


def settled(figures: Mapping[str, float], n_chains: int) -> bool:
    """Whether a trace of a report has settled: R-hat and effective draws good, and known.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.convergence import settled
    >>> settled({"r_hat": 1.01, "effective_draws": 80.0}, n_chains=2)
    True
    >>> settled({"r_hat": float("nan"), "effective_draws": float("nan")}, n_chains=2)
    False
    """
    enough = figures["effective_draws"] >= FEWEST_EFFECTIVE * n_chains
    return bool(figures["r_hat"] < TOLERATED_RHAT and enough)


def right_spread(figures: Mapping[str, float], tolerance: float = TOLERATED_SPREAD) -> bool:
    """Whether the experts are as wide as Stein's identity says; true of other quantities.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.convergence import right_spread
    >>> right_spread({"mean": 1.08, "error": 0.01}), right_spread({"mean": 0.8, "error": 0.01})
    (True, False)
    """
    if "error" not in figures:
        return True
    return bool(abs(figures["mean"] - 1.0) <= tolerance + 4.0 * figures["error"])


def too_many(report: Mapping[str, Any]) -> bool:
    """Whether two components would be much more probable as one.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.convergence import too_many
    >>> too_many({"joining": 7.5}), too_many({"joining": 300.0}), too_many({})
    (False, True, False)
    """
    return bool(report.get(JOINING, 0.0) > _MOST_JOINING)


def rhat_so_far(traces: Sequence[Sequence[float]]) -> str:
    """R-hat of chains under way, for a display; empty as long as there is too little to go by.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.convergence import rhat_so_far
    >>> rhat_so_far([[3, 4, 3, 4, 4, 3, 3, 4], [4, 3, 3, 4, 3, 4, 4, 3, 3]])
    'R-hat 1.000'
    >>> rhat_so_far([[3, 4]])
    ''
    """
    length = min(len(trace) for trace in traces)
    if length < _FEWEST_TO_REPORT:
        return ""
    values = _without_rounding(np.array([trace[:length] for trace in traces], dtype=float))
    value = _rhat(values)
    return f"R-hat {value:.3f}" if np.isfinite(value) else ""


def warn_if_unsettled(report: Mapping[str, Any], sweeps: int, remedy: str = "") -> None:
    """Warn when a trace says that the chains have not settled; ``sweeps`` are those kept.

    ``remedy`` is what helps against too many components.
    """
    if sweeps < _FEWEST_TO_JUDGE:
        return
    named = {name: part["r_hat"] for name, part in report.items() if isinstance(part, Mapping)}
    worst = max(named, key=lambda name: np.nan_to_num(named[name], posinf=np.inf))
    value = named[worst]
    message = ""
    if value == math.inf:
        message = (
            f"the chains are stuck at different partitions (the {worst} never changes within a "
            "chain, and differs between them): predictions average over them, but the number of "
            f"components and the co-clustering should not be trusted; {LET_ROWS_MOVE}"
        )
    elif too_many(report):
        message = (
            f"two components would be more probable as one, by {report[JOINING]:,.0f} nats, and "
            "chains of this length do not join them: predictions may still be good, but the number "
            f"of components and the co-clustering should not be trusted; {remedy}"
        )
    elif value > WORST_RHAT and worst == EXPERTS:
        message = (
            f"the experts have not settled (R-hat {value:.2f} for their spread): predictions may "
            "still be good, but their weights should not be trusted; increase n_sweeps or "
            "inner_steps"
        )
    elif value > WORST_RHAT:
        message = (
            f"the partition has not settled (R-hat {value:.2f} for the trace of {worst}): "
            "predictions may still be good, but the number of components and the co-clustering "
            "should not be trusted; increase n_sweeps"
        )
    elif any(math.isnan(found) for found in named.values()):
        message = (
            f"no row changed its component in the {sweeps} sweeps kept of a chain: either the data "
            "leave no doubt about the partition, or the chain is stuck, and R-hat cannot tell "
            f"which; {LET_ROWS_MOVE}"
        )
    elif EXPERTS in report and not right_spread(report[EXPERTS], WORST_SPREAD):
        ratio = report[EXPERTS]["mean"]
        message = (
            f"the experts are too {'narrow' if ratio < 1.0 else 'wide'} (Stein's ratio is "
            f"{ratio:.2f} instead of 1): increase n_sweeps or inner_steps"
            + ("" if ratio < 1.0 else ", or leave step and batch_size at their defaults")
        )
    if message:
        warnings.warn(message, ConvergenceWarning, stacklevel=3)


def warn_if_refused(accepted: float, trajectories: int, step: float) -> None:
    """Warn when so few trajectories were accepted that weights have hardly moved.

    Of a handful, which a few short sweeps make, most may be refused by chance.
    """
    if accepted < FEWEST_ACCEPTED and trajectories >= _FEWEST_TO_REPORT:
        warnings.warn(
            f"{100.0 * accepted:.0f}% of the trajectories of the weights were accepted: "
            f"step={step:g} is too long for them, and they hardly move; pass a smaller one",
            StepSizeWarning,
            stacklevel=3,
        )
