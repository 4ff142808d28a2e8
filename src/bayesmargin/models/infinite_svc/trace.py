"""What is recorded of a chain: label-invariant traces, draws, and assignments of kept sweeps."""

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.chain import Chain
from bayesmargin.models.infinite_svc.marginal import log_marginals
from bayesmargin.models.infinite_svc.prediction import Draw, take_draw
from bayesmargin.models.mixtures.convergence import EXPERTS, JOINING, trace_report

_MOST_LABELS = 200_000_000


def log_partition(chain: Chain) -> float:
    """Log of CRP times collapsed Gaussians: how probable the partition is, labels aside."""
    components, base = chain.components, chain.base
    slots = components.order[: components.size[0]]
    value = len(slots) * math.log(chain.concentration)
    value += float(gammaln(components.population[slots]).sum())
    total = len(chain.rows.labels)
    value += float(gammaln(chain.concentration) - gammaln(chain.concentration + total))
    return value + log_marginals(components, base, float(chain.empty.log_determinant[0]))


@dataclasses.dataclass
class Recorder:
    """Keeps what estimators and diagnostics need of one chain."""

    keep: IntArray  #: sweep numbers after which a draw is kept
    components: list[int] = dataclasses.field(default_factory=list)
    concentration: list[float] = dataclasses.field(default_factory=list)
    partition: list[float] = dataclasses.field(default_factory=list)
    moved: list[float] = dataclasses.field(default_factory=list)
    experts: list[float] = dataclasses.field(default_factory=list)
    draws: list[Draw] = dataclasses.field(default_factory=list)
    labels: list[IntArray] = dataclasses.field(default_factory=list)
    joining: float = 0.0  #: nats that two components would gain as one, at the end
    held_out: FloatArray | None = None  #: what rows in folds get from chains without them

    def note(self, sweep: int, chain: Chain) -> None:
        """Record the state after a sweep."""
        self.components.append(int(chain.components.size[0]))
        self.concentration.append(chain.concentration)
        self.partition.append(log_partition(chain))
        self.moved.append(chain.moved / max(1, len(chain.rows.labels)))
        self.experts.append(chain.experts)
        if sweep in self.keep:
            self.draws.append(take_draw(chain.components, chain.empty, chain.concentration))
            if len(self.keep) * len(chain.rows.labels) <= _MOST_LABELS:
                used = np.sort(chain.components.order[: chain.components.size[0]])
                self.labels.append(np.searchsorted(used, chain.assignment.slot).astype(np.int32))


def usable(recorders: list[Recorder]) -> list[Recorder]:
    """Of chains that were interrupted those with draws, unless others have twice as many."""
    most = max((len(r.draws) for r in recorders), default=0)
    return [r for r in recorders if r.draws and 2 * len(r.draws) >= most]


def summarise(recorders: list[Recorder], kept: slice) -> dict[str, Any]:
    """What the label-invariant traces say of the sweeps kept, and the share of rows that moved."""
    traces = {
        name: np.array([getattr(r, name)[kept] for r in recorders], dtype=float)
        for name in ("components", "partition", "concentration", "moved", "experts")
    }
    moved, experts = traces.pop("moved"), traces.pop("experts")
    concentration = trace_report({"concentration": traces.pop("concentration")})  # may be fixed
    report: dict[str, Any] = {**trace_report(traces, moved), **concentration}
    if report:
        report |= trace_report({EXPERTS: experts})
        spread = float(experts.std() / math.sqrt(report[EXPERTS]["effective_draws"]))
        report[EXPERTS]["error"] = spread
        report["moved"] = float(np.mean(moved))
        report[JOINING] = max(recorder.joining for recorder in recorders)
    return report
