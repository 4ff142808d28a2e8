r"""The infinite SVM with the interface of scikit-learn."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bayesmargin.calibration.floored import learn_link
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.threads import n_threads, pool_for
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.infinite_svc.answers import InfiniteSVCAnswers
from bayesmargin.models.infinite_svc.components import components_of
from bayesmargin.models.infinite_svc.fitting import Problem, make_problem
from bayesmargin.models.infinite_svc.model import End, end_chains, make_chains
from bayesmargin.models.infinite_svc.settings import CALIBRATED, check_settings, sampler_of_experts
from bayesmargin.models.infinite_svc.trace import summarise
from bayesmargin.models.infinite_svc.watching import SweepDisplay
from bayesmargin.models.mixtures.convergence import warn_if_unsettled
from bayesmargin.models.watching import watched
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.running.interrupts import warn_of_interrupt
from bayesmargin.running.progress import progress_for


class InfiniteSVC(InfiniteSVCAnswers):
    r"""Dirichlet-process mixture of linear max-margin experts.

    .. math::

       q(Z, \eta, \gamma) \propto \mathrm{CRP}(Z \mid \alpha_0)
          \prod_k N(\eta_k; 0, s^2 I)\,\mathrm{NIW}(\gamma_k)
          \prod_d N(x_d; \gamma_{z_d})\,\exp\!\big(-C\,(\zeta_d)_+\big)

    where :math:`\zeta_d` is the slack of row d under the expert of its component (binary hinge for
    two classes, Crammer and Singer's for more). The data choose how many experts there are; the
    Gaussians are integrated out, and features are standardised inside.

    Parameters
    ----------
    concentration : float or "learn"
        Concentration :math:`\alpha_0`; "learn" samples it under a Gamma(1, 1) prior.
    C, margin : float
        Weight and margin of the hinge, as in :class:`BayesianLinearSVC`.
    n_sweeps : int or "auto"
        Sweeps over all rows; the chain starts from k-means. "auto": a million visits to rows (fewer
        with more than ten features), at least 100 sweeps and at most 2000.
    n_draws : int
        Draws kept from each chain for prediction, evenly spaced after burn-in.
    prior_scale : float or "auto"
        Prior standard deviation s of every weight, on standardised features; "auto":
        :math:`1/\sqrt{\text{scatter}}`, which lets an expert turn within its component.
    components : {"full", "diag"} or GaussianComponents
        What tells components apart: Gaussians with any covariance or with independent columns, or
        settings of them, such as ``GaussianComponents(covariates="continuous", scatter=0.5)``.
    sampler : {"ssgnht", "ssgld", "hmc", "gibbs"} or MixtureGibbs
        How the experts' weights are sampled: stochastic subgradient thermostats or Langevin steps
        with control variates, or the exact samplers HMC and augmentation Gibbs; or settings of
        whole sweeps, such as ``MixtureGibbs(weights=SSGNHT(step=0.1), burn_in=50)``. A step that
        is left out is 0.2 in whitened coordinates, for "ssgnht" 0.1 and down to 0.02 in components
        where single rows bend the energy much. A batch that is left out are all of up to 256 rows
        of a component, then :math:`16\sqrt{n_k}`, and with more than five classes a fifth of that
        for every class, which keeps the noise of the gradient small in components of any size;
        small batches are faster and biased: they find too many components.
    fit_intercept : bool
        Whether every expert has an intercept (with the prior of the other weights).
    prediction : {"calibrated", "probability", "vote", "score", "hard", "gibbs"}
        Rule of ``predict`` and ``predict_proba``; see
        :mod:`bayesmargin.models.infinite_svc.prediction`. "calibrated": the rule "probability",
        with a slope and a floor learned from training rows that are left out of short chains at
        the end of the fit (:mod:`bayesmargin.calibration.floored`).
    n_chains : int
        Independent chains from different starts; predictions average over all.
    random_state : int, Generator, RandomState or None
        Equal seeds give equal results whatever ``n_jobs``.
    n_jobs : int or None
        Threads for chains, for groups of components and for prediction, as for
        :class:`BayesianLinearSVC`: None takes all cores.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it,
        bit by bit. Removed when the fit is complete.
    **more
        Settings inside objects by paths, such as ``components__scatter``.
    verbose : int
        1 shows how the chains go: a live bar in a terminal or notebook, a few lines in a log.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_components_ : array of shape (n_chains, sweeps after burn-in)
        Posterior draws of the number of components.
    concentration_ : array of the same shape
        Posterior draws of the concentration (constant unless it is learned).
    timings_ : dict
        Processor seconds spent on "start", "assignments", "split_merge", "weights" and
        "calibration", over all chains (not counting other threads).
    diagnostics_ : MixtureDiagnostics
        Prints as a sentence, has ``trustworthy``, and is a dictionary of figures:
        R-hat and effective draws of label-invariant quantities, and the share of rows that moved.
    link_ : Link or None
        What "calibrated" probabilities are made with; None where another rule was fitted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayesmargin.models.infinite_svc import InfiniteSVC
    >>> X, y = make_moons(400, noise=0.15, random_state=0)
    >>> model = InfiniteSVC(C=5.0, n_sweeps=36, random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.9)
    True
    >>> model.predict_proba(X[300:]).shape
    (100, 2)
    """

    short_forms: ClassVar[ShortForms] = {
        **InfiniteSVCAnswers.short_forms,
        "components": components_of,
        "sampler": sampler_of_experts,
    }
    former_names: ClassVar[Mapping[str, str]] = {
        **InfiniteSVCAnswers.former_names,
        "method": "sampler__weights",
        "step": "sampler__weights__step",
        "batch_size": "sampler__weights__batch_size",
        "inner_steps": "sampler__inner_steps",
        "burn_in": "sampler__burn_in",
        "n_clusters": "sampler__n_clusters",
        "new_components": "sampler__new_components",
        "split_merge": "sampler__split_merge",
        "groups": "sampler__groups",
        "joining": "sampler__joining",
        "covariates": "components__covariates",
        "covariance_type": "components__covariance",
        "scatter": "components__scatter",
        "mean_strength": "components__mean_strength",
        "extra_degrees": "components__extra_degrees",
    }

    def __init__(
        self,
        concentration: float | str = 1.0,
        C: float = 1.0,
        margin: float = 1.0,
        *,
        n_sweeps: int | str = "auto",
        n_draws: int = 25,
        prior_scale: float | str = "auto",
        components: Any = "full",
        sampler: Any = "ssgnht",
        fit_intercept: bool = True,
        prediction: str = CALIBRATED,
        n_chains: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        verbose: int = 0,
        **more: Any,
    ) -> None:
        self.concentration = concentration
        self.C = C
        self.margin = margin
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.prior_scale = prior_scale
        self.components = components
        self.sampler = sampler
        self.fit_intercept = fit_intercept
        self.prediction = prediction
        self.n_chains = n_chains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self._take(more)

    def fit(self, X: Any, y: Any) -> Self:
        """Sample the posterior.

        A :class:`~bayesmargin.errors.ConvergenceWarning` says when at least 20 sweeps were kept
        and their traces show that the partition has not settled. Ctrl-C after burn-in keeps the
        draws made so far (:class:`~bayesmargin.errors.InterruptedWarning`); earlier, or with a
        checkpoint to go on from, it ends the fit.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels.
        """
        plan = check_settings(self)
        with all_or_nothing(self):
            X, y, labels = self._read_training(X, y)
            workers = n_threads(self.n_jobs, self.n_chains)
            with self._checkpointing(X, y) as checkpoint:
                *generators, shared = spawn_generators(checkpoint.random_state, self.n_chains + 1)
                problem = make_problem(plan, X, labels, shared)
                parts = plan.groups * self.n_chains if plan.groups > 1 else 1
                threads = pool_for(parts, self.n_jobs)
                with progress_for(self.verbose) as progress, threads as pool:
                    chains = make_chains(problem, generators, pool)
                    rows = watched(self.classes_)
                    show = SweepDisplay(progress, problem, chains, rows, self.prediction)
                    n_sweeps = problem.n_sweeps
                    cut_short = run_sweeps(chains, n_sweeps, workers, checkpoint, show)
                    ends, interrupted = end_chains(problem, chains, workers, cut_short)
                if interrupted and checkpoint.active:
                    raise KeyboardInterrupt
                self._keep(problem, chains, ends)
        if interrupted:
            self.diagnostics_ = {**self.diagnostics_, "interrupted": True}
            warn_of_interrupt(chains[0].sweeps, problem.n_sweeps, "sweeps")
            return self
        remedy = "increase n_sweeps" if plan.joining == "eager" else "joining='eager' joins them"
        warn_if_unsettled(self.diagnostics_, self.n_components_.shape[1], remedy)
        return self

    def _keep(self, problem: Problem, chains: list[Gibbs], ends: list[End]) -> None:
        """Take over the draws of chains, what their traces say, and what their ends do."""
        kept = [one for chain in chains for one in chain.draws]
        self._problem = problem.without_rows()
        self._draws = [draw for draw, _ in kept]
        self._labels = [slots[problem.inverse] for _, slots in kept if slots is not None]
        self.n_components_ = np.array([chain.kept("components") for chain in chains]).astype(int)
        self.concentration_ = np.array([chain.kept("concentration") for chain in chains])
        names = ("start", "assignments", "weights", "split_merge", "calibration")
        self.timings_ = {name: sum(chain.seconds[name] for chain in chains) for name in names}
        self.timings_["start"] += problem.seconds
        self.timings_["assignments"] += sum(chain.state.elsewhere for chain in chains)
        self.diagnostics_ = summarise(chains, max(end.joining for end in ends))
        self.link_ = None
        if problem.folds is not None:
            self.link_ = learn_link([end.held_out for end in ends], problem.labels_in_folds)
