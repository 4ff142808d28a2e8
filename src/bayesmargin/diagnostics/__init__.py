"""Whether draws can be trusted: convergence, bias, the one warning."""

from bayesmargin.diagnostics.convergence import (
    Diagnostics,
    bulk_ess,
    effective_sample_size,
    rhat,
    tail_ess,
)

__all__ = ["Diagnostics", "bulk_ess", "effective_sample_size", "rhat", "tail_ess"]
