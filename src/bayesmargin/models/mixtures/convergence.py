"""The verdict on label-invariant traces: split R-hat, effective draws, and one warning."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from bayesmargin.diagnostics import bulk_ess, rhat
from bayesmargin.errors import ConvergenceWarning, InterruptedWarning

_FEWEST_TO_REPORT = 8
_FEWEST_TO_JUDGE = 20
#: Partitions mix slowly, and predictions are good long before they have mixed. Beyond this the
#: chains are plainly somewhere else, or still on their way.
WORST_RHAT = 1.5


def trace_report(traces: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Mean, split R-hat and effective draws of traces (chains x sweeps); empty if too short.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.mixtures.convergence import trace_report
    >>> trace_report({"components": np.arange(6.0)[None]})
    {}
    """
    report = {}
    for name, values in traces.items():
        if values.shape[1] >= _FEWEST_TO_REPORT:
            report[name] = {
                "mean": float(values.mean()),
                "r_hat": float(rhat(values)),
                "effective_draws": float(bulk_ess(values)),
            }
    return report


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
    value = float(rhat(np.array([trace[:length] for trace in traces], dtype=float)))
    return f"R-hat {value:.3f}" if np.isfinite(value) else ""


def warn_if_unsettled(report: Mapping[str, Mapping[str, float]], sweeps: int) -> None:
    """Warn when a trace says that the chains have not settled; ``sweeps`` are those kept."""
    if sweeps < _FEWEST_TO_JUDGE:
        return
    worst = max(report, key=lambda name: np.nan_to_num(report[name]["r_hat"]))
    value = report[worst]["r_hat"]
    if np.isfinite(value) and value > WORST_RHAT:
        warnings.warn(
            f"the partition has not settled (R-hat {value:.2f} for the trace of {worst}): "
            "predictions may still be good, but the number of components and the co-clustering "
            "should not be trusted; increase n_sweeps",
            ConvergenceWarning,
            stacklevel=4,
        )


def warn_of_interrupt(sweeps: int, wanted: int, chains: int, wanted_chains: int) -> None:
    """Warn that Ctrl-C has cut the chains short."""
    of = "" if chains == wanted_chains else f" of {chains} of {wanted_chains} chains"
    warnings.warn(
        f"sampling was interrupted after {sweeps} of {wanted} sweeps; the model holds the draws "
        f"made so far{of}: fit again for a full run",
        InterruptedWarning,
        stacklevel=3,
    )
