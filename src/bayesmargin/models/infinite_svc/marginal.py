"""Evidence of the covariates for a partition, the Gaussian parameters integrated out."""

from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit
from bayesmargin.models.infinite_svc.state import Base, Components


@inner_borrowing_jit
def log_marginal(components: Components, base: Base, slot: int, empty: float) -> float:
    r"""Log evidence of the members' covariates; ``empty`` is log det of the prior scatter.

    The product of the predictive densities of one member after another. That of the member after i
    is :math:`S_i + \tfrac{\nu_i}{2}\log|\Psi_i| - \tfrac{\nu_{i+1}}{2}\log|\Psi_{i+1}|` in logs, so
    all determinants but the first and the last cancel:

    .. math:: \sum_{i<n} S_i + \tfrac{\nu_0}{2}\log|\Psi_0| - \tfrac{\nu_n}{2}\log|\Psi_n| .
    """
    count = components.population[slot]
    value = 0.0
    for i in range(count):
        value += base.student[i]
    degrees = base.degrees + count
    return value + 0.5 * base.degrees * empty - 0.5 * degrees * components.log_determinant[slot]


@borrowing_jit
def log_marginals(components: Components, base: Base, empty: float) -> float:
    """Sum of :func:`log_marginal` over the components in use."""
    total = 0.0
    for position in range(components.size[0]):
        total += log_marginal(components, base, components.order[position], empty)
    return total
