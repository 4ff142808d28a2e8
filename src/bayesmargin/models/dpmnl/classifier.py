"""dpMNL with the interface of scikit-learn."""

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.dpmnl.model import MixtureOfLogits
from bayesmargin.models.dpmnl.prediction import predict_draws
from bayesmargin.models.dpmnl.settings import Plan, check_settings, sampler_of_logits
from bayesmargin.models.mixtures.classifier import (
    MixtureClassifier,
    cluster_count,
    kept_sweeps,
)
from bayesmargin.models.mixtures.convergence import (
    rhat_so_far,
    trace_report,
    warn_if_refused,
    warn_if_unsettled,
)
from bayesmargin.models.mixtures.start import fit_scaling
from bayesmargin.models.watching import WatchedRows, watched
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.running.interrupts import warn_of_interrupt
from bayesmargin.running.progress import progress_for


class DPMNLClassifier(MixtureClassifier):
    r"""Dirichlet-process mixture of multinomial logit models (Shahbaba and Neal, 2009).

    The generative cousin of :class:`InfiniteSVC`: independent normal covariates and a softmax in
    every component, all parameters sampled. Features are standardised inside; those that are
    constant in the training rows are ignored.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over all rows.
    sampler : "hmc" or MixtureGibbs
        How a sweep is made: start, burn-in, new components, splits and merges, and the step of HMC,
        doubled at every fifth sweep, of whose trajectories each takes half to three halves at
        random. ``MixtureGibbs(weights=HMC(step=0.1), burn_in=50)``, say.
    n_draws : int
        Draws kept for prediction.
    random_state : int, Generator, RandomState or None
        Seed.
    verbose : int
        1 shows how the chain goes: a live bar in a terminal or notebook, a few lines in a log.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it,
        bit by bit. Removed when the fit is complete.
    **more
        Settings inside objects by paths, such as ``sampler__burn_in``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_components_ : array of shape (n_sweeps - burn_in,)
        Posterior draws of the number of components.
    timings_ : dict
        Seconds spent in "total".
    diagnostics_ : MixtureDiagnostics
        Prints as a sentence, has ``trustworthy``, and is a dictionary of figures:
        R-hat and effective draws of the number of components and of the log probability of the
        partition, and the shares of rows that moved and of trajectories that were accepted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesmargin.models.dpmnl import DPMNLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DPMNLClassifier(n_sweeps=36, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    short_forms: ClassVar[ShortForms] = {
        **MixtureClassifier.short_forms,
        "sampler": sampler_of_logits,
    }
    former_names: ClassVar[Mapping[str, str]] = {
        **MixtureClassifier.former_names,
        "burn_in": "sampler__burn_in",
        "n_clusters": "sampler__n_clusters",
        "n_auxiliary": "sampler__new_components",
        "split_merge": "sampler__split_merge",
        "step": "sampler__weights__step",
        "n_leapfrog": "sampler__weights__n_leapfrog",
    }

    def __init__(
        self,
        n_sweeps: int = 100,
        *,
        sampler: Any = "hmc",
        n_draws: int = 25,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.n_sweeps = n_sweeps
        self.sampler = sampler
        self.n_draws = n_draws
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
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
            begin = time.perf_counter()
            self._scaling = fit_scaling(X)
            with self._checkpointing(X, y) as checkpoint:
                (rng,) = spawn_generators(checkpoint.random_state, 1)
                keep = kept_sweeps(plan.n_sweeps, plan.burn_in, self.n_draws)
                chain = Gibbs(self._model(X, labels, plan), rng, plan.burn_in, keep)
                with progress_for(self.verbose) as progress:
                    rows = watched(self.classes_)

                    def show(sweeps: int) -> None:
                        if progress.shown:
                            detail = self._glance(chain, rows)
                            progress.update("sweep", sweeps, plan.n_sweeps, detail)

                    cut_short = run_sweeps([chain], plan.n_sweeps, 1, checkpoint, show)
            self._keep(chain)
            self.timings_ = {"total": time.perf_counter() - begin}
        if cut_short:
            self.diagnostics_ = {**self.diagnostics_, "interrupted": True}
            warn_of_interrupt(chain.sweeps, plan.n_sweeps, "sweeps")
            return self
        warn_if_unsettled(self.diagnostics_, len(self.n_components_))
        accepted = float(chain.kept("accepted").mean())
        warn_if_refused(accepted, int(self.n_components_.sum()), plan.step)
        return self

    def _model(self, X: FloatArray, labels: IntArray, plan: Plan) -> MixtureOfLogits:
        columns = np.flatnonzero(np.isfinite(self._scaling.width))  # the others are constant
        settings = {
            "step": plan.step, "leapfrogs": plan.leapfrogs, "auxiliary": plan.auxiliary,
            "proposals": plan.proposals,
        }  # fmt: skip
        return MixtureOfLogits(
            X=np.ascontiguousarray(self._scaling.apply(X)[:, columns]),
            labels=labels,
            columns=columns,
            features=self.n_features_in_,
            classes=len(self.classes_),
            clusters=cluster_count(plan.n_clusters, len(X)),
            settings=settings,
        )

    def _keep(self, chain: Gibbs) -> None:
        """Take over the draws of a chain, and what its traces say."""
        self._draws = chain.draws
        self.n_components_ = chain.kept("components").astype(int)
        moved = chain.kept("moved")
        traces = {name: chain.kept(name)[None] for name in ("components", "partition")}
        found = trace_report(traces, moved[None])
        shares = {"moved": float(moved.mean()), "accepted": float(chain.kept("accepted").mean())}
        self.diagnostics_ = {**found, **shares} if found else {}

    def _glance(self, chain: Gibbs, rows: WatchedRows | None) -> str:
        """Components, R-hat of their number, and accuracy of the latest draw on watched rows."""
        trace = chain.traces["components"]
        parts = [f"{trace[-1]} components", rhat_so_far([trace[chain.burn_in :]])]
        if rows is not None and chain.draws:
            X, classes = self._scaling.apply(rows.X), len(self.classes_)
            chance = predict_draws(chain.draws[-1:], X, classes)
            parts.append(rows.accuracy(chance.argmax(axis=1)))
        return "  ".join(filter(None, parts))

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probability of every class."""
        rows = self._read_rows(X)
        return predict_draws(self._draws, self._scaling.apply(rows), len(self.classes_))
