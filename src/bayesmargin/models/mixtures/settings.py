"""Settings of the sweeps by which mixtures of experts are sampled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_counts,
    require_positive,
)
from bayesmargin.foundation.settings import Settings, ShortForms
from bayesmargin.samplers.augmentation import AugmentationGibbs
from bayesmargin.samplers.langevin import SSGLD
from bayesmargin.samplers.thermostat import SSGNHT

JOINING = ("cautious", "eager")


@dataclass(frozen=True, kw_only=True, repr=False)
class HMC(Settings):
    """Hamiltonian Monte Carlo of the weights of an expert.

    Parameters
    ----------
    step : float or None
        Step of the integrator in the scale of the expert; None: 0.2.
    n_leapfrog : int or None
        Steps of a trajectory; None: 8 for the infinite SVM, 30 for dpMNL (the original: 200).

    Examples
    --------
    >>> from bayesmargin.models.dpmnl import HMC
    >>> HMC(n_leapfrog=200)
    HMC(n_leapfrog=200)
    """

    step: float | None = None
    n_leapfrog: int | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step)
        require_counts(n_leapfrog=self.n_leapfrog)


WEIGHTS: Mapping[str, Any] = {
    "ssgnht": SSGNHT,
    "ssgld": SSGLD,
    "hmc": HMC,
    "gibbs": AugmentationGibbs,
}
"""How the weights of experts can be sampled, by name."""


def weights_of(value: Any) -> Any:
    """Settings of the weights' sampler, for an object or a name.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.settings import weights_of
    >>> weights_of("hmc")
    HMC()
    """
    if isinstance(value, tuple(WEIGHTS.values())):
        return value
    if isinstance(value, str) and value in WEIGHTS:
        return WEIGHTS[value]()
    names = ", ".join(map(repr, WEIGHTS))
    raise ValueError(
        f"weights={value!r} is not allowed: choose one of {names}, or pass an object such as "
        "HMC(step=0.1)"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class MixtureGibbs(Settings):
    """Sweeps over the rows of a mixture, and between them moves of its components.

    Parameters
    ----------
    weights : str or object
        How the weights of components are sampled. The infinite SVM: "ssgnht" (the default) or
        "ssgld", stochastic subgradient thermostats or Langevin steps with control variates, or the
        exact "hmc" and "gibbs" (augmentation); dpMNL: "hmc". Or an object: ``SSGNHT`` and ``SSGLD``
        of :mod:`bayesmargin.samplers` with ``step`` and ``batch_size``, or :class:`HMC`.
    inner_steps : int or "auto"
        Steps of the weights in a sweep: of the stochastic methods, passes of "gibbs", trajectories
        of "hmc". "auto": 6000 divided by the sweeps, from 10 to 100, but 10 in the sweeps that may
        join components; for the exact methods 1.
    burn_in : int or None
        Sweeps not used; None: half of them.
    n_clusters : int or "auto"
        Clusters of the k-means start; "auto": a quarter of the square root of the number of rows,
        at most 100.
    new_components : "exact", int or None
        Exact integral and exact draw for new components (Neal's Algorithm 2), or the number of
        auxiliary components of Algorithm 8. Both target the same posterior. None: "exact" for the
        infinite SVM; dpMNL, which has no exact integral, takes 5.
    split_merge : int or None
        Split or merge proposals in a sweep; None: 1 for the infinite SVM, 5 for dpMNL.
    joining : {"cautious", "eager"} or None
        Whether components that are more probable as one are joined in the first ten sweeps (or
        the first half of burn-in). "cautious": where experts lose next to nothing; "eager":
        wherever the posterior gains, which may classify worse; None: by merge proposals alone.
    groups : int
        Groups of components that a sweep visits side by side, in threads of ``n_jobs``. A row moves
        within its group, and groups are drawn anew for every sweep, which leaves the posterior as
        it is (:mod:`bayesmargin.models.infinite_svc.groups`). For many rows on several cores.

    Examples
    --------
    >>> from bayesmargin.models.dpmnl import MixtureGibbs
    >>> MixtureGibbs(weights="hmc", burn_in=20)
    MixtureGibbs(weights='hmc', burn_in=20)
    """

    weights: Any = None
    inner_steps: int | str = "auto"
    burn_in: int | None = None
    n_clusters: int | str = "auto"
    new_components: int | str | None = None
    split_merge: int | None = None
    joining: str | None = "cautious"
    groups: int = 1
    short_forms: ClassVar[ShortForms] = {"weights": weights_of}

    def __post_init__(self) -> None:
        if self.weights is not None:
            weights_of(self.weights)
        if self.inner_steps != "auto":
            require_count("inner_steps", self.inner_steps, 1)
        if self.burn_in is not None:
            require_count("burn_in", self.burn_in, 0)
        if self.n_clusters != "auto":
            require_count("n_clusters", self.n_clusters, 1)
        if isinstance(self.new_components, str) and self.new_components != "exact":
            raise ValueError(
                f'new_components={self.new_components!r} is not allowed: pass "exact" or the '
                "number of auxiliary components of Algorithm 8"
            )
        if self.new_components is not None and not isinstance(self.new_components, str):
            require_count("new_components", self.new_components, 1)
        if self.split_merge is not None:
            require_count("split_merge", self.split_merge, 0)
        if self.joining is not None:
            require_choice("joining", self.joining, JOINING)
        require_count("groups", self.groups, 1)

    def completed(self, weights: Any, new_components: int | str, split_merge: int) -> Any:
        """The same with what a model takes where nothing was said, and the weights as an object."""
        own = {"new_components": new_components, "split_merge": split_merge}
        given = {name: getattr(self, name) for name in own if getattr(self, name) is not None}
        return replace(self, **{**own, **given}, weights=weights_of(self.weights or weights))


def sampler_of(value: Any) -> MixtureGibbs:
    """Settings of sweeps, for an object, or for the name of the weights' sampler alone.

    Examples
    --------
    >>> from bayesmargin.models.mixtures.settings import sampler_of
    >>> sampler_of("ssgld")
    MixtureGibbs(weights='ssgld')
    """
    if isinstance(value, MixtureGibbs):
        return value
    if isinstance(value, str) and value in WEIGHTS:
        return MixtureGibbs(weights=value)
    names = ", ".join(map(repr, WEIGHTS))
    raise ValueError(
        f"sampler={value!r} is not allowed: choose one of {names}, or pass an object such as "
        "MixtureGibbs(burn_in=50)"
    )
