"""dpMNL with the interface of scikit-learn."""

import time
from functools import partial
from threading import Event
from typing import Any, Self

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import run_chains
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.dpmnl.chain import start_chain
from bayesmargin.models.dpmnl.prediction import Draw, predict_draws, take_draw
from bayesmargin.models.dpmnl.resolution import least_log_variances
from bayesmargin.models.dpmnl.resuming import Record, state_of, take_up
from bayesmargin.models.dpmnl.settings import check_settings
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
from bayesmargin.models.mixtures.start import first_partition, fit_scaling
from bayesmargin.models.watching import Watched, watched
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.running.interrupts import warn_of_interrupt
from bayesmargin.running.progress import Progress, progress_for


class DPMNLClassifier(MixtureClassifier):
    r"""Dirichlet-process mixture of multinomial logit models (Shahbaba and Neal, 2009).

    The generative cousin of :class:`InfiniteSVC`: independent normal covariates and a softmax in
    every component, all parameters sampled. Features are standardised inside; those that are
    constant in the training rows are ignored.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over all rows.
    burn_in : int or None
        Sweeps not used; None: half of them.
    n_draws : int
        Draws kept for prediction.
    n_clusters : int or "auto"
        Clusters of the k-means start; "auto": a quarter of the square root of the number of rows.
    n_auxiliary : int
        Auxiliary components of Neal's Algorithm 8.
    split_merge : int
        Proposals in a sweep to split a component or to merge two; 0: none, as in the original.
    step : float
        HMC step before scaling, of which a trajectory takes half to three halves at random;
        doubled at every fifth sweep.
    n_leapfrog : int
        Leapfrog steps of a trajectory (the original used 200).
    random_state : int, Generator, RandomState or None
        Seed.
    checkpoint : path-like or None
        Folder to which the state of a fit is written every ``checkpoint_every`` seconds; a fit of
        the same data and settings goes on from it, bit by bit. Removed when the fit is complete.
    checkpoint_every : float
        Seconds between checkpoints.
    verbose : int
        1 shows how the chain goes: a live bar in a terminal or notebook, a few lines in a log.

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

    def __init__(
        self,
        n_sweeps: int = 100,
        burn_in: int | None = None,
        n_draws: int = 25,
        n_clusters: int | str = "auto",
        n_auxiliary: int = 5,
        split_merge: int = 5,
        step: float = 0.2,
        n_leapfrog: int = 30,
        random_state: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        verbose: int = 0,
    ) -> None:
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_draws = n_draws
        self.n_clusters = n_clusters
        self.n_auxiliary = n_auxiliary
        self.split_merge = split_merge
        self.step = step
        self.n_leapfrog = n_leapfrog
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.verbose = verbose

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
        burn_in = check_settings(self)
        with all_or_nothing(self):
            X, y, labels = self._read_training(X, y)
            begin = time.perf_counter()
            self._scaling = fit_scaling(X)
            with self._checkpointing(X, y) as checkpoint:
                with progress_for(self.verbose) as progress:
                    run = partial(self._sample, X, labels, burn_in, checkpoint, progress)
                    runs, interrupted = run_chains(run, [(watched(self.classes_),)], workers=1)
                if interrupted and (checkpoint.active or not (runs and runs[0].draws)):
                    raise KeyboardInterrupt
            (record,) = runs
            self._keep(record, burn_in)
            self.timings_ = {"total": time.perf_counter() - begin}
        if interrupted:
            self.diagnostics_ = {**self.diagnostics_, "interrupted": True}
            warn_of_interrupt(len(record.components), self.n_sweeps, "sweeps")
            return self
        warn_if_unsettled(self.diagnostics_, len(self.n_components_))
        accepted = float(np.mean(record.accepted[burn_in:]))
        warn_if_refused(accepted, int(self.n_components_.sum()), self.step)
        return self

    def _keep(self, record: Record, burn_in: int) -> None:
        """Take over the draws of a chain, and what its traces say."""
        self._draws = record.draws
        self.n_components_ = np.array(record.components[burn_in:])
        moved = np.array(record.moved[burn_in:])
        traces = {"components": self.n_components_[None].astype(float)}
        partition = np.array(record.partition[burn_in:])
        if np.isfinite(partition).all():  # not known of sweeps in an early checkpoint
            traces["partition"] = partition[None]
        found = trace_report(traces, moved[None])
        accepted = float(np.mean(record.accepted[burn_in:]))
        shares = {"moved": float(moved.mean()), "accepted": accepted}
        self.diagnostics_ = {**found, **shares} if found else {}

    def _sample(
        self,
        X: FloatArray,
        labels: IntArray,
        burn_in: int,
        checkpoint: Checkpoint | NoCheckpoint,
        progress: Progress,
        rows: Watched | None,
        stop: Event,
    ) -> Record:
        """What is kept of a chain run to its end, or to that of the sweep when ``stop`` is set."""
        columns = np.flatnonzero(np.isfinite(self._scaling.width))  # the others are constant
        X = np.ascontiguousarray(self._scaling.apply(X)[:, columns])
        settings: dict[str, Any] = {
            "step": self.step, "leapfrogs": self.n_leapfrog, "auxiliary": self.n_auxiliary,
            "proposals": self.split_merge,
        }  # fmt: skip
        record = Record()
        if checkpoint.state is None:
            (rng,) = spawn_generators(checkpoint.random_state, 1)
            clusters = cluster_count(self.n_clusters, len(X))
            partition = first_partition(X, clusters, int(rng.integers(2**31)))
            least = least_log_variances(X)
            chain = start_chain(
                rng, X, labels, partition, len(self.classes_), **settings, narrowest=least
            )
        else:
            chain, record = take_up(checkpoint.state, X, labels, **settings)
        kept = kept_sweeps(self.n_sweeps, burn_in, self.n_draws)
        for sweep in range(chain.sweeps, self.n_sweeps):
            chain.sweep()
            record.components.append(int(chain.experts.size[0]))
            record.moved.append(chain.moved)
            record.accepted.append(chain.accepted)
            record.partition.append(chain.log_partition)
            if sweep in kept:
                record.draws.append(take_draw(chain, columns, self.n_features_in_))
            checkpoint.pause(partial(state_of, chain, record))
            if progress.shown:
                detail = self._glance(record.components, burn_in, rows, record.draws)
                progress.update("sweep", sweep + 1, self.n_sweeps, detail)
            if stop.is_set():
                break
        return record

    def _glance(
        self, trace: list[int], burn_in: int, rows: Watched | None, draws: list[Draw]
    ) -> str:
        """Components, R-hat of their number, and accuracy of the latest draw on watched rows."""
        parts = [f"{trace[-1]} components", rhat_so_far([trace[burn_in:]])]
        if rows is not None and draws:
            chance = predict_draws(draws[-1:], self._scaling.apply(rows.X), len(self.classes_))
            parts.append(rows.accuracy(chance.argmax(axis=1)))
        return "  ".join(filter(None, parts))

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probability of every class."""
        rows = self._read_rows(X)
        return predict_draws(self._draws, self._scaling.apply(rows), len(self.classes_))
