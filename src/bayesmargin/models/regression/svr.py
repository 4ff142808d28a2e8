r"""A Bayesian linear support vector regression with the interface of scikit-learn."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.likelihoods import Absolute, EpsilonInsensitive, OneScore
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.regression.noise import first_residuals
from bayesmargin.models.regression.settings import check_svr_settings
from bayesmargin.models.regression.training import RegressionTraining
from bayesmargin.models.regression.units import Units
from bayesmargin.models.settings import resolve_sampler
from bayesmargin.samplers.base import Sampler


class BayesianLinearSVR(RegressionTraining):
    r"""Bayesian linear support vector regression: a tube in place of a line, and a posterior.

    .. math:: p(w \mid \text{data}) \propto p_0(w) \prod_d \exp\left(
              -C\,(|y_d - w \cdot x_d| - \epsilon)_+\right)

    With a Gaussian prior of scale one its mode is the solution of
    ``LinearSVR(C=C, epsilon=epsilon)``. What lies inside the tube of half width
    :math:`\epsilon` costs nothing, and what lies outside pulls with the same force however far it
    is, so that outliers do little.

    Parameters
    ----------
    C : float or "auto"
        Weight of the loss, as in scikit-learn. "auto" learns it from the residuals, so that the
        posterior is as wide as estimates scatter over samples of this size, and takes
        ``prior_scale`` in units of the spread of ``y`` about its median: the answer is then the
        same in any units of ``y``. A number ten times away from that is told (CoverageWarning).
    epsilon : float or "auto"
        Half the width of the tube, in units of ``y``. "auto" takes the tube under which the weights
        are known best, for the noise that the residuals show.
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
    coef_, intercept_ : arrays of shape (n_features,) and (1,)
        Posterior means; of several values a row arrays of shape (n_outputs, n_features) and
        (n_outputs,).
    C_, epsilon_ : float, or arrays of shape (n_outputs,)
        The numbers used, learned where they are "auto".
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
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesmargin import BayesianLinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianLinearSVR(C="auto", random_state=0)
    >>> model = model.fit(StandardScaler().fit_transform(X), y)
    >>> model.posterior_["coef"].shape
    (4, 1000, 10)
    >>> model.diagnostics_.trustworthy
    True
    """

    short_forms: ClassVar[ShortForms] = {
        **RegressionTraining.short_forms,
        "sampler": resolve_sampler,
    }

    epsilon_: Any

    def __init__(
        self,
        C: float | str = 1.0,
        epsilon: float | str = "auto",
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
        self.C = C
        self.epsilon = epsilon
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

    def _n_blocks(self) -> int:
        return self.n_outputs_

    def _checked_settings(self) -> Sampler:
        return check_svr_settings(self)

    def _learn(
        self, rows: LinearData, units: Units, rng: np.random.Generator
    ) -> list[tuple[OneScore, float]]:
        found = None
        if isinstance(self.C, str) or isinstance(self.epsilon, str):
            found = first_residuals(rows, Absolute(), self.prior_scale, self.fit_intercept, rng)
        if isinstance(self.epsilon, str):
            assert found is not None
            loss = EpsilonInsensitive(units.size * found.best_tube())
        else:
            loss = EpsilonInsensitive(float(self.epsilon))
        return [(loss, self._cost(found, loss, units))]

    def _keep_losses(self, losses: Sequence[OneScore]) -> None:
        tubes = [loss.epsilon for loss in losses if isinstance(loss, EpsilonInsensitive)]
        self.epsilon_ = tubes[0] if len(tubes) == 1 else np.array(tubes)

    def _losses(self) -> Sequence[OneScore]:
        return [EpsilonInsensitive(float(tube)) for tube in np.atleast_1d(self.epsilon_)]

    def _lines(self, found: LeftOut) -> LeftOut:
        return found
