"""What is recorded of a chain: label-invariant traces, draws, and assignments of kept sweeps."""

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesmargin.diagnostics import bulk_ess, rhat
from bayesmargin.models.infinite_svc.chain import Chain
from bayesmargin.models.infinite_svc.gaussian import log_marginal, reset_to_prior
from bayesmargin.models.infinite_svc.prediction import Draw, take_draw
from bayesmargin.models.infinite_svc.state import Components, empty_components
from bayesmargin.types import IntArray

_MOST_LABELS = 200_000_000


def log_partition(chain: Chain, empty: Components) -> float:
    """Log of CRP times collapsed Gaussians: how probable the partition is, labels aside."""
    components, base = chain.components, chain.base
    slots = components.order[: components.size[0]]
    value = len(slots) * math.log(chain.concentration)
    value += float(gammaln(components.population[slots]).sum())
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
    if len(recorders[0].components) - burn_in < 8:
        return report  # too short to say anything
    for name in ("components", "partition", "concentration"):
        values = np.array([getattr(r, name)[burn_in:] for r in recorders], dtype=float)
        report[name] = {
            "mean": float(values.mean()),
            "r_hat": float(rhat(values)),
            "effective_draws": float(bulk_ess(values)),
        }
    report["moved"] = float(np.mean([r.moved[burn_in:] for r in recorders]))
    return report
