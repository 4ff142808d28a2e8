r"""Bayesian linear quantile regression with the interface of scikit-learn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.errors import DataError
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.values import plain_values
from bayesmargin.likelihoods import OneScore, Pinball
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.regression.noise import first_residuals
from bayesmargin.models.regression.settings import check_quantile_settings, quantile_levels
from bayesmargin.models.regression.training import RegressionTraining
from bayesmargin.models.regression.units import Units, weighted_quantile
from bayesmargin.models.settings import check_sample_weight, resolve_sampler
from bayesmargin.rows.files import FileRows
from bayesmargin.samplers.base import Sampler


class BayesianQuantileRegressor(RegressionTraining):
    r"""Bayesian linear quantile regression: the pinball loss as a pseudo-likelihood.

    .. math:: p(w \mid \text{data}) \propto p_0(w) \prod_d \exp\left(-C\,\rho_q(y_d - w \cdot x_d)
              \right), \qquad \rho_q(r) = q\,(r)_+ + (1 - q)\,(-r)_+

    A share :math:`q` of values lies below :math:`w \cdot x`. With a Gaussian prior its mode is that
    quantile's line with a ridge; nothing is assumed of the noise. Several quantiles are fitted in
    one go, and their predictions do not cross.

    Parameters
    ----------
    quantile : float or sequence of float
        Level or levels, between 0 and 1; 0.5 is the median.
    C : float or "auto"
        Weight of the loss. "auto" learns it from the residuals, one for each quantile, so that the
        posterior is as wide as estimates scatter over samples of this size, and takes
        ``prior_scale`` in units of the spread of ``y`` about its median: the answer is then the
        same in any units of ``y``. A number ten times away from that is told (CoverageWarning).
    prior : {"gaussian", "laplace"}
        Prior of every weight, the intercept included.
    prior_scale : float
        Standard deviation of the Gaussian, or scale of the Laplace distribution.
    fit_intercept : bool
        Whether a constant feature is added.
    sampler : str or Sampler
        "auto", "ssgld", "ssgnht", "sghmc", the exact "hmc", "lmc" and "gibbs", "srwm" (random walk
        with the austerity test), "anchor" (a Gaussian, no chain), or an object of
        :mod:`bayesmargin.samplers`.
    n_chains, n_draws : int
        Chains, and draws kept from each.
    random_state : int, Generator, RandomState or None
        Seed; equal seeds give equal draws whatever ``n_jobs``, on processors of one kind.
    n_jobs : int or None
        Threads; None uses a core for each chain as far as there are cores.
    verbose : int
        1 shows progress.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it.
    **more
        Settings inside objects by paths, such as ``sampler__step``.

    Attributes
    ----------
    coef_, intercept_ : array of shape (n_features,) and float
        Posterior means; of several quantiles arrays of shape (n_quantiles, n_features) and
        (n_quantiles,), in the order of ``quantile``. So are those of one quantile of several values
        a row, (n_outputs, n_features) and (n_outputs,).
    C_ : float, or array of shape (n_quantiles,) or (n_outputs,)
        The numbers used, learned where ``C`` is "auto".
    n_outputs_ : int
        Values of a row.
    posterior_ : Posterior
        Draws ``coef`` and ``intercept``.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, temperature, bias; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin import BayesianQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 1))
    >>> y = 2.0 * X[:, 0] + (0.2 + X[:, 0]) * rng.standard_normal(500)
    >>> model = BayesianQuantileRegressor([0.1, 0.5, 0.9], C="auto", random_state=0).fit(X, y)
    >>> low, middle, high = model.predict([[0.0], [1.0]]).T
    >>> bool((high - low)[1] > 2.0 * (high - low)[0])
    True
    """

    short_forms: ClassVar[ShortForms] = {
        **RegressionTraining.short_forms,
        "sampler": resolve_sampler,
    }

    def __init__(
        self,
        quantile: Any = 0.5,
        C: float | str = 1.0,
        prior: str = "gaussian",
        prior_scale: float = 1.0,
        fit_intercept: bool = True,
        sampler: Any = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.quantile = quantile
        self.C = C
        self.prior = prior
        self.prior_scale = prior_scale
        self.fit_intercept = fit_intercept
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def _several(self) -> bool:
        return isinstance(self.quantile, list | tuple | np.ndarray)

    def _n_blocks(self) -> int:
        return len(quantile_levels(self.quantile)) * self.n_outputs_

    def _axis(self) -> Mapping[str, Sequence[Any]]:
        levels = quantile_levels(self.quantile)
        return {"quantile": levels} if len(levels) > 1 else super()._axis()

    def _training_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, FloatArray]:
        X, y = super()._training_rows(X, y, reset)
        if y.ndim > 1 and len(quantile_levels(self.quantile)) > 1:
            raise DataError(
                f"y holds {y.shape[1]} values a row and quantile names {len(self.quantile)} levels:"
                " pass one level, or a model a value (sklearn.multioutput.MultiOutputRegressor)"
            )
        return X, y

    def _checked_settings(self) -> Sampler:
        return check_quantile_settings(self)

    def _learn(
        self, rows: LinearData, units: Units, rng: np.random.Generator
    ) -> list[tuple[OneScore, float]]:
        learned: list[tuple[OneScore, float]] = []
        for level in quantile_levels(self.quantile):
            likelihood, found = Pinball(level), None
            if isinstance(self.C, str):
                found = first_residuals(rows, likelihood, self.prior_scale, self.fit_intercept, rng)
            learned.append((likelihood, self._cost(found, likelihood, units)))
        return learned

    def _losses(self) -> Sequence[Pinball]:
        return [Pinball(level) for level in quantile_levels(self.quantile)] * self.n_outputs_

    def _lines(self, found: LeftOut) -> LeftOut:
        if len(quantile_levels(self.quantile)) == 1:
            return found
        mixing = self._outer_lines()
        return replace(
            found, residual=found.residual @ mixing.T, variance=found.variance @ mixing.T
        )

    def _outer_lines(self) -> FloatArray:
        """Shares of the lines that make the lowest, the middle and the highest one (rows)."""
        levels = np.array(quantile_levels(self.quantile))
        lowest, highest = int(levels.argmin()), int(levels.argmax())
        lines = np.zeros((3, len(levels)))
        lines[0, lowest] = lines[2, highest] = 1.0
        inner = np.delete(np.arange(len(levels)), [lowest, highest])
        if len(inner):
            lines[1, inner[np.abs(levels[inner] - 0.5).argmin()]] = 1.0
        else:
            lines[1] = 0.5 * (lines[0] + lines[2])
        return lines

    def central(self, values: FloatArray) -> FloatArray:
        """The line between the lowest and the highest of predictions (row, quantile)."""
        found: FloatArray = values @ self._outer_lines()[1]
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """One less the loss of the quantile over that of the best constant; their mean of several.

        As the coefficient of determination is for squares; of the median it is that of absolute
        deviations. ``y`` may be left out when ``X`` is a file that holds the values.
        """
        y = plain_values(X.checked_labels(y) if isinstance(X, FileRows) else np.asarray(y))
        weight = check_sample_weight(sample_weight, len(y))
        values = np.asarray(self.predict(X)).reshape(len(y), -1)
        shares = []
        for k, loss in enumerate(self._losses()):
            truth = y if y.ndim == 1 else y[:, k]
            constant = np.full(len(y), weighted_quantile(truth, weight, loss.quantile))
            own, best = (float(weight @ loss.loss(truth, s)) for s in (values[:, k], constant))
            shares.append(1.0 - own / best if best else float(own == 0.0))
        return float(np.mean(shares))

    def _interval(self, X: Any, coverage: float) -> FloatArray:
        if len(quantile_levels(self.quantile)) == 1:
            return super()._interval(X, coverage)
        low, middle, high = self._outer_lines() @ self._in_order(self._decision(X, False)[0]).T
        return np.column_stack(self.left_out_.between(low, middle, high, coverage))

    def _in_order(self, values: FloatArray) -> FloatArray:
        if len(quantile_levels(self.quantile)) == 1:
            return values
        place = np.argsort(np.argsort(quantile_levels(self.quantile)))
        return np.sort(values, axis=1)[:, place]

    def _shaped(self, intercept: Any) -> Any:
        return np.array(intercept, dtype=float) if np.ndim(intercept) else float(intercept)
