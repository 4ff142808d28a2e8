"""Draws of a fitted model, with their names, shapes and settings."""

import json
import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from bayesmargin.diagnostics.convergence import bulk_ess, rhat, tail_ess
from bayesmargin.errors import CoverageWarning
from bayesmargin.foundation.types import FloatArray
from bayesmargin.uncertainty.adjustment import Adjustment

AS_SAMPLED = "as sampled"
SUMMARY_VALUES = 1 << 23  # draws summarised at a time, so that wide models need no second copy


class Posterior(Mapping[str, FloatArray]):
    """Posterior draws by name: arrays of shape (chain, draw, ...).

    Parameters
    ----------
    draws : mapping of str to array
        Draws of each variable.
    dims : mapping of str to tuple of str
        Names of the axes after ``chain`` and ``draw``.
    coords : mapping of str to sequence
        Labels along those axes.
    attrs : mapping of str to any
        Settings and facts of the run.
    adjustment : Adjustment, optional
        The map that :meth:`robust` applies.
    statistics : mapping of str to array, optional
        What the sampler tells of every draw, arrays of shape (chain, draw) or (chain, draw, class).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.posterior import Posterior
    >>> draws = np.random.default_rng(0).standard_normal((2, 50, 3))
    >>> posterior = Posterior({"coef": draws}, {"coef": ("feature",)}, {"feature": list("abc")}, {})
    >>> posterior["coef"].shape, posterior.n_chains, posterior.n_draws
    ((2, 50, 3), 2, 50)
    """

    def __init__(
        self,
        draws: Mapping[str, FloatArray],
        dims: Mapping[str, tuple[str, ...]],
        coords: Mapping[str, Any],
        attrs: Mapping[str, Any],
        adjustment: Adjustment | None = None,
        statistics: Mapping[str, FloatArray] | None = None,
    ) -> None:
        self._draws = dict(draws)
        self.dims = dict(dims)
        self.coords = {name: list(labels) for name, labels in coords.items()}
        self.attrs = dict(attrs)
        self.adjustment = adjustment
        self.statistics = dict(statistics or {})

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self._draws:
            known = ", ".join(repr(one) for one in self._draws)
            raise KeyError(f"there are no draws of {name!r}: choose one of {known}")
        return self._draws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._draws)

    def __len__(self) -> int:
        return len(self._draws)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape[2:]}" for name, array in self.items())
        kind = "" if self.intervals == AS_SAMPLED else f" ({self.intervals})"
        return f"<Posterior{kind} of {self.n_chains} chains x {self.n_draws} draws: {shapes}>"

    def _repr_html_(self) -> str:
        from bayesmargin.report.cards import posterior_card

        return posterior_card(self)

    @property
    def intervals(self) -> str:
        """Which intervals these draws show: "as sampled", or "robust" ones, which cover."""
        return str(self.attrs.get("intervals", AS_SAMPLED))

    def robust(self) -> "Posterior":
        r"""The posterior moved and stretched so that its intervals cover.

        The hinge is a pseudo-likelihood, and ``C`` decides how wide its posterior is. Intervals
        of these draws cover the weights that infinitely many rows would give as often as they say:
        centre and covariance are those of the minimiser over samples of this size,
        :math:`V = H^{-1} (J + \Lambda) H^{-1}` (:mod:`bayesmargin.uncertainty.sandwich`), and
        the draws keep their shape.

        Returns
        -------
        Posterior
            With the same names, and ``intervals`` "robust".

        Warns
        -----
        CoverageWarning
            Where rows do not bound the weights, as those of separable classes: then it is the
            prior that decides, and no interval is known to cover.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin import BayesianLinearSVC
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((300, 2))
        >>> y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
        >>> model = BayesianLinearSVC(C=10.0, random_state=0).fit(X, y)
        >>> sampled, robust = model.posterior_, model.posterior_.robust()
        >>> wider = robust["coef"].std(axis=(0, 1)) / sampled["coef"].std(axis=(0, 1))
        >>> robust.intervals, bool((wider > 1.5).all())
        ('robust', True)
        """
        if self.intervals != AS_SAMPLED:
            return self
        if self.adjustment is None:
            raise ValueError(
                "there is no adjustment for this posterior: it is kept with linear models of at "
                "most 800 weights a fit, drawn at least twice as often as there are weights, that "
                "were fitted or saved since the library knows it; fit the model again, with more "
                "draws or fewer features"
            )
        if self.adjustment.doubts:
            warnings.warn(
                f"robust intervals may not cover: {self.adjustment.doubts}; more rows or fewer "
                "features help",
                CoverageWarning,
                stacklevel=2,
            )
        attrs = {**self.attrs, "intervals": "robust"}
        return Posterior(
            self.adjustment.moved(self), self.dims, self.coords, attrs, None, self.statistics
        )

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return next(iter(self._draws.values())).shape[0]

    @property
    def n_draws(self) -> int:
        """Draws in each chain."""
        return next(iter(self._draws.values())).shape[1]

    def flat(self, name: str) -> FloatArray:
        """Draws of one variable with chains joined: (chain * draw, ...)."""
        array = self[name]
        return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])

    def summary(self, probability: float = 0.9) -> Any:
        """What is known of every scalar, as a pandas data frame.

        Mean, sd, central interval, probability of direction (that of the sign which most draws
        have), R-hat and effective draws. The name of its columns and ``attrs["intervals"]`` say
        which intervals are shown.

        Parameters
        ----------
        probability : float
            Posterior probability of the interval.
        """
        import pandas

        if not 0.0 < probability < 1.0:
            raise ValueError(f"probability={probability!r} is not allowed: it lies between 0 and 1")
        low, high = 0.5 - 0.5 * probability, 0.5 + 0.5 * probability
        parts = []
        for name, array in self.items():
            flat = array.reshape(*array.shape[:2], -1)
            step = max(1, SUMMARY_VALUES // (flat.shape[0] * flat.shape[1]))
            columns = [
                _summary(flat[..., start : start + step], low, high)
                for start in range(0, flat.shape[2], step)
            ]
            joint = {key: np.concatenate([part[key] for part in columns]) for key in columns[0]}
            parts.append(pandas.DataFrame(joint, index=self._labels(name, array.shape[2:])))
        table = pandas.concat(parts).rename_axis(columns=self.intervals)
        table.attrs["intervals"] = self.intervals
        return table

    def _labels(self, name: str, shape: tuple[int, ...]) -> list[str]:
        if not shape:
            return [name]
        axes = [
            self.coords.get(dim, range(size))
            for dim, size in zip(self.dims[name], shape, strict=True)
        ]
        return [
            f"{name}[{', '.join(str(axis[i]) for axis, i in zip(axes, index, strict=True))}]"
            for index in np.ndindex(*shape)
        ]

    def to_arviz(self, groups: Mapping[str, Mapping[str, Any]] | None = None) -> Any:
        """The draws as ArviZ wants them, with the settings in their attributes.

        What is zero in every draw, the intercept of a model without one, is constant data there:
        ArviZ divides by the spread of every variable of a posterior.

        What the sampler tells of every draw is the group ``sample_stats``: the kinetic temperature
        and the thermostat, or the share of trajectories accepted, as means over the iterations that
        lead to the draw; the step; and ``diverging``, where it is known that no draw did.

        Parameters
        ----------
        groups : mapping, optional
            Further groups, arrays by name: ``{"observed_data": {"y": labels}}``.

        Returns
        -------
        xarray.DataTree or arviz.InferenceData
            The former from ArviZ 1.0 on. Either has the draws in its group ``posterior``.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.posterior import Posterior
        >>> draws = np.random.default_rng(0).standard_normal((2, 50, 3))
        >>> posterior = Posterior({"coef": draws}, {"coef": ("feature",)}, {}, {"C": 1.0})
        >>> posterior.to_arviz().posterior["coef"].dims
        ('chain', 'draw', 'feature')
        """
        arviz = import_arviz()
        drawn = {name: array for name, array in self.items() if np.any(array)}
        fixed = {name: array[0, 0] for name, array in self.items() if name not in drawn}
        constant = {"constant_data": fixed} if fixed else {}
        told = self._sample_stats()
        told = {"sample_stats": told} if told else {}
        groups = {"posterior": drawn, **told, **constant, **(groups or {})}
        per_class = self.dims.get("intercept", ())
        separate = {name: per_class for name, found in self.statistics.items() if found.ndim == 3}
        names: dict[str, Any] = {
            "dims": {name: list(dims) for name, dims in {**self.dims, **separate}.items()},
            "coords": self.coords,
        }
        takes_groups = int(arviz.__version__.partition(".")[0]) >= 1
        data = (
            arviz.from_dict(groups, **names) if takes_groups else arviz.from_dict(**groups, **names)
        )
        data.posterior.attrs["intervals"] = self.intervals
        data.posterior.attrs.update({name: _plain(value) for name, value in self.attrs.items()})
        return data

    def _sample_stats(self) -> dict[str, Any]:
        """What is told of every draw, the same of all of them included."""
        if not self.statistics:
            return {}
        shape, step = (self.n_chains, self.n_draws), self.attrs.get("step")
        result: dict[str, Any] = dict(self.statistics)
        if isinstance(step, float):
            result["step_size"] = np.full(shape, step)
        if not self.attrs.get("divergent_trajectories", 0):  # a chain that ends is begun again
            result["diverging"] = np.zeros(shape, dtype=bool)
        return result


def _summary(draws: FloatArray, low: float, high: float) -> dict[str, FloatArray]:
    """Columns of the summary for draws (chain, draw, scalar), a piece that fits memory."""
    flat = np.ascontiguousarray(draws, dtype=float)
    quantiles = np.quantile(flat, [low, high], axis=(0, 1))
    return {
        "mean": flat.mean(axis=(0, 1)),
        "sd": flat.std(axis=(0, 1), ddof=1),
        f"{100 * low:g}%": quantiles[0],
        f"{100 * high:g}%": quantiles[1],
        "p_direction": 0.5 + 0.5 * np.abs(np.sign(flat).mean(axis=(0, 1))),
        "r_hat": rhat(flat),
        "ess_bulk": bulk_ess(flat),
        "ess_tail": tail_ess(flat),
    }


def import_arviz() -> ModuleType:
    """ArviZ, imported when first used, without the notice it prints about its next version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    return arviz


def _plain(value: Any) -> Any:
    """A value that netCDF attributes can hold."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float | str):
        return value
    return json.dumps(value, default=str)
