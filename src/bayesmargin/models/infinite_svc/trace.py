"""What is recorded of chains after every sweep, none of it by the numbers of components."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesmargin.models.infinite_svc.chain import Chain
from bayesmargin.models.infinite_svc.marginal import log_marginals
from bayesmargin.models.mixtures.convergence import EXPERTS, JOINING, trace_report
from bayesmargin.running.gibbs import Gibbs


def log_partition(chain: Chain) -> float:
    """Log of CRP times collapsed Gaussians: how probable the partition is, labels aside."""
    components, base = chain.components, chain.base
    slots = components.order[: components.size[0]]
    value = len(slots) * math.log(chain.concentration)
    value += float(gammaln(components.population[slots]).sum())
    total = len(chain.rows.labels)
    value += float(gammaln(chain.concentration) - gammaln(chain.concentration + total))
    return value + log_marginals(components, base, float(chain.empty.log_determinant[0]))


def traces_of(chain: Chain) -> dict[str, float]:
    """What is recorded after every sweep."""
    return {
        "components": int(chain.components.size[0]),
        "concentration": chain.concentration,
        "partition": log_partition(chain),
        "moved": chain.moved / max(1, len(chain.rows.labels)),
        "experts": chain.experts,
    }


def summarise(chains: Sequence[Gibbs], joining: float) -> dict[str, Any]:
    """What the label-invariant traces say of the sweeps kept, and the share of rows that moved.

    ``joining`` is how many nats two components would gain as one, at the end.
    """
    traces = {
        name: np.array([chain.kept(name) for chain in chains])
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
        report[JOINING] = joining
    return report
