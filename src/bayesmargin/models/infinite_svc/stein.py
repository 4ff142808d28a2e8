r"""Whether the experts are as wide as their law says: Stein's identity.

Given the partition, the weights of component k have the density :math:`e^{-U_k}`, and partial
integration (to which kinks do no harm) gives

.. math:: E\Big[\sum_k \eta_k \cdot \nabla U_k(\eta_k)\Big] = E[\text{number of weights}],
          \qquad \nabla U_k = \eta_k / s^2 - c \textstyle\sum_{d \in k} u_d(\eta_k).

The ratio of the two is one. It is larger where steps or small batches make the experts too wide,
and smaller where these are too narrow, or still on their way from the start. The sweep over the
assignments leaves all subgradients behind, so it costs next to nothing.
"""

from bayesmargin.models.infinite_svc.state import Mixture


def stein_ratio(mixture: Mixture) -> float:
    """Sum of weights times gradients, by the number of weights, after a sweep over all rows."""
    components, base, hinge = mixture.components, mixture.base, mixture.hinge
    slots = components.order[: components.size[0]]
    weights, pull = components.weights[slots], components.pull[slots]
    gradient = weights / base.weight_scale**2 - hinge.cost * pull
    return float((weights * gradient).sum() / weights.size)
