"""Settings of the Gaussians that tell components apart."""

from dataclasses import dataclass
from typing import Any

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
)
from bayesmargin.foundation.settings import Settings

COVARIANCES = ("full", "diag")


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianComponents(Settings):
    r"""Gaussians of the components, integrated out over a normal-inverse-Wishart base measure.

    .. math::

       x_d \mid z_d = k \sim N(\mu_k, \Sigma_k), \quad
       \mu_k \sim N(0, \Sigma_k / \kappa_0), \quad
       \Sigma_k \sim \mathrm{IW}(\nu_0, (\nu_0 - p - 1)\, v I)

    for p standardised features and the ``scatter`` v.

    Parameters
    ----------
    covariates : bool, "auto" or "continuous"
        Whether components have Gaussian features. Without them a new row says nothing about its
        component, and every component votes by its size. "continuous": Gaussians of the columns
        with more than two values only, since each combination of 0/1 columns would otherwise be a
        component that no row can leave; experts see all columns. "auto": the same where there are
        columns of both kinds, else Gaussians of all columns.
    covariance : {"full", "diag"}
        Gaussians with any covariance, or with independent columns, whose density takes p operations
        instead of :math:`p^2/2`. "full" is mostly the better classifier; "diag" is worth a try
        where it finds a single component.
    scatter : float or "auto"
        Prior mean of a component's variance, in units of the variance of the data; "auto": half
        of the variance within the k-means clusters that the chain starts from.
    mean_strength : float
        :math:`\kappa_0`: how strongly the base measure holds the components' means.
    extra_degrees : int or "auto"
        :math:`\nu_0 - p - 2`: how strongly it holds their covariances (p = 1 for each column of a
        "diag"). "auto": p from ten columns on, less for fewer, 0 up to five and for "diag".

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc import GaussianComponents, InfiniteSVC
    >>> InfiniteSVC(components=GaussianComponents(covariance="diag", scatter=0.5))
    InfiniteSVC(components=GaussianComponents(covariance='diag', scatter=0.5))
    """

    covariates: bool | str = "auto"
    covariance: str = "full"
    scatter: float | str = "auto"
    mean_strength: float = 0.1
    extra_degrees: int | str = "auto"

    def __post_init__(self) -> None:
        require_flag("covariates", self.covariates, "auto", "continuous")
        require_choice("covariance", self.covariance, COVARIANCES)
        require_given(mean_strength=self.mean_strength)
        if self.scatter != "auto":
            require_given(scatter=self.scatter)
        if self.extra_degrees != "auto":
            require_count("extra_degrees", self.extra_degrees, 0)


def components_of(value: Any) -> GaussianComponents:
    """Settings of the components, for an object or the kind of covariance alone.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.components import components_of
    >>> components_of("diag")
    GaussianComponents(covariance='diag')
    """
    if isinstance(value, GaussianComponents):
        return value
    if isinstance(value, str) and value in COVARIANCES:
        return GaussianComponents(covariance=value)
    names = ", ".join(map(repr, COVARIANCES))
    raise ValueError(
        f"components={value!r} is not allowed: choose one of {names}, or pass an object such as "
        "GaussianComponents(scatter=0.5)"
    )
