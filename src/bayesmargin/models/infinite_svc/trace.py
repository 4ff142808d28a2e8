"""What is recorded of a chain: label-invariant traces, draws, and assignments of kept sweeps."""

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesmargin.models.infinite_svc.chain import Chain
from bayesmargin.models.infinite_svc.gaussian import log_marginal, reset_to_prior
from bayesmargin.models.infinite_svc.prediction import Draw, take_draw
from bayesmargin.models.infinite_svc.state import Components, empty_components
from bayesmargin.types import FloatArray, IntArray

_MOST_LABELS = 200_000_000


def log_partition(chain: Chain, empty: Components) -> float:
    """Log of CRP times collapsed Gaussians: how probable the partition is, labels aside."""
    components, base = chain.components, chain.base
    slots = components.order[: components.size[0]]
    value = len(slots) * math.log(chain.concentration)
    value += float(gammaln(components.count[slots]).sum())
    total = len(chain.rows.labels)
    value += float(gammaln(chain.concentration) - gammaln(chain.concentration + total))
    prior = empty.log_determinant[0]
    return value + sum(log_marginal(components, base, int(slot), prior) for slot in slots)


@dataclasses.dataclass
class Recorder:
    """Keeps what estimators and diagnostics need of one chain."""

    keep: IntArray  #: sweep numbers after which a draw is kept
    components: list[int] = dataclasses.field(default_factory=list)
    concentration: list[float] = dataclasses.field(default_factory=list)
    partition: list[float] = dataclasses.field(default_factory=list)
    moved: list[float] = dataclasses.field(default_factory=list)
    draws: list[Draw] = dataclasses.field(default_factory=list)
    labels: list[IntArray] = dataclasses.field(default_factory=list)

    def note(self, sweep: int, chain: Chain) -> None:
        """Record the state after a sweep."""
        empty = _empty_like(chain)
        self.components.append(int(chain.components.size[0]))
        self.concentration.append(chain.concentration)
        self.partition.append(log_partition(chain, empty))
        self.moved.append(chain.moved / max(1, len(chain.rows.labels)))
        if sweep in self.keep:
            self.draws.append(take_draw(chain.components, empty, chain.concentration))
            if len(self.keep) * len(chain.rows.labels) <= _MOST_LABELS:
                used = np.sort(chain.components.order[: chain.components.size[0]])
                self.labels.append(np.searchsorted(used, chain.assignment.slot).astype(np.int32))


def _empty_like(chain: Chain) -> Components:
    empty = empty_components(1, chain.rows.covariates.shape[1], 1, 1)
    reset_to_prior(empty, chain.base, 0)
    return empty


def summarise(recorders: list[Recorder], burn_in: int) -> dict[str, Any]:
    """Split R-hat and bulk effective size of the label-invariant traces after burn-in."""
    report: dict[str, Any] = {}
    for name in ("components", "partition", "concentration"):
        values = np.array([getattr(r, name)[burn_in:] for r in recorders], dtype=float)
        report[name] = {
            "mean": float(values.mean()),
            "r_hat": _split_r_hat(values),
            "effective_draws": _effective_draws(values),
        }
    report["moved"] = float(np.mean([r.moved[burn_in:] for r in recorders]))
    return report


def _split_r_hat(values: FloatArray) -> float:
    half = values.shape[1] // 2
    if half < 2:
        return float("nan")
    parts = np.vstack([values[:, :half], values[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean()
    if within == 0.0:
        return 1.0 if np.ptp(parts) == 0.0 else float("inf")
    between = half * parts.mean(axis=1).var(ddof=1)
    return float(math.sqrt((half - 1) / half + between / (half * within)))


def _effective_draws(values: FloatArray) -> float:
    """Draws divided by the autocorrelation time, summed over chains (initial positive pairs)."""
    total = 0.0
    for line in values:
        centred = line - line.mean()
        power = float(centred @ centred)
        count = len(line)
        if power <= 0.0 or count < 4:
            total += count
            continue
        correlation = np.correlate(centred, centred, "full")[count - 1 :] / power
        time = 1.0
        for lag in range(1, count - 1, 2):
            pair = correlation[lag] + correlation[lag + 1]
            if pair < 0.0:
                break
            time += 2.0 * float(pair)
        total += count / max(time, 1.0)
    return total
