"""Max-margin majority voting, the estimator."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesmargin.errors import DataError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.triples import numbers_of
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.crowd.diagnostics import VotingDiagnostics, diagnose
from bayesmargin.models.crowd.draws import (
    logs_of,
    posterior_of,
    probabilities,
)
from bayesmargin.models.crowd.labels import forecast
from bayesmargin.models.crowd.model import Voting
from bayesmargin.models.crowd.reading import (
    classes_of,
    places_of,
    read_known,
    read_named,
    sorted_votes,
)
from bayesmargin.models.crowd.settings import Plan, check_settings, sampler_of_weights
from bayesmargin.models.crowd.votes import UNKNOWN
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.settling import intervals
from bayesmargin.models.sweeping import SweepingMixin
from bayesmargin.running.gibbs import Gibbs


class MaxMarginVoting(SweepingMixin, SavedMixin, BaseEstimator):
    r"""One label an item from those of many workers, with its probability (Tian and Zhu, 2015).

    Votes for class k of item i weigh :math:`s_{ik} = \sum_{j: x_{ij}=k} \eta_j`, and the true
    class should win by a margin; beside it every worker has a confusion matrix, as in the model of
    Dawid and Skene:

    .. math:: p(y, \eta, \Phi, \pi \mid x) \propto p(\Phi)\, p(\pi)\, N(\eta; m, v I)
              \prod_i \pi_{y_i} \prod_j \Phi_{j y_i x_{ij}}\;
              e^{-C (\ell + \max_{k \ne y_i} s_{ik} - s_{i y_i})_+}

    A weight may be negative: a worker who is mostly wrong is worth listening to. Labels and
    matrices are drawn from their exact conditionals, weights by Hamiltonian Monte Carlo with
    subgradients.

    Parameters
    ----------
    n_classes : int, optional
        Classes; by default those that occur. Classes that nobody votes for need a number, and
        labels counted from 0.
    C : float
        Weight of the hinge.
    margin : float
        By how much the true class should win, :math:`\ell`.
    pseudo_counts : tuple of two floats, float or None
        Strength of Dirichlet's prior of each row of a worker's matrix, for the right label and for
        each wrong one. None: no matrices, the plain max-margin vote.
    prior_mean, prior_scale : float
        Mean m and standard deviation of a worker's weight before any vote.
    sampler : "hmc", "lmc", SubgradientHMC or LangevinMC
        How weights move in a sweep; ``thin`` is the number of transitions. A step that is not given
        is tuned in burn-in, which is half of the sweeps unless ``burn_in`` says otherwise.
    n_sweeps : int
        Sweeps over all labels and weights of each chain.
    n_chains : int
    n_draws : int
        Draws of weights and matrices that each chain keeps.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs : int or None
        Threads; None: one a chain, as far as there are processors.
    verbose : int
        1 shows how the chains go.
    checkpoint : path-like, Checkpoint or None
        Folder for the state of a fit, which goes on from it after a crash, bit by bit.
    **more
        Settings inside objects by paths, such as ``sampler__step``.

    Attributes
    ----------
    items_, workers_, classes_ : arrays
        Names in order.
    labels_ : array of shape (n_items,)
        Most probable class of each item.
    probability_ : array of shape (n_items, n_classes)
        Posterior probabilities.
    posterior_ : Posterior
        Draws of "weight" (worker), and with matrices of "accuracy" (worker: probability of a right
        label), "confusion" (worker, class, label) and "share" (class).
    diagnostics_ : VotingDiagnostics
        Prints as a sentence, has ``trustworthy``, and is a dictionary of figures.

    Examples
    --------
    Three of five workers look, two say whatever they like:

    >>> import numpy as np
    >>> from bayesmargin import MaxMarginVoting
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 60)
    >>> rows = [(i, w, truth[i] if rng.random() < (0.9 if w < 3 else 0.5) else 1 - truth[i])
    ...         for i in range(60) for w in range(5)]
    >>> model = MaxMarginVoting(n_sweeps=200, random_state=0).fit(rows)
    >>> bool((model.labels_ == truth).mean() > 0.9)
    True
    >>> list(model.worker_table().columns[:3])
    ['accuracy', 'accuracy 5%', 'accuracy 95%']
    """

    _verdict = VotingDiagnostics
    short_forms: ClassVar[ShortForms] = {
        **SavedMixin.short_forms,
        "sampler": sampler_of_weights,
    }

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        C: float = 1.0,
        margin: float = 1.0,
        pseudo_counts: Any = (2.0, 1.0),
        prior_mean: float = 0.0,
        prior_scale: float = 0.3,
        sampler: Any = "hmc",
        n_sweeps: int = 1000,
        n_chains: int = 4,
        n_draws: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.n_classes = n_classes
        self.C = C
        self.margin = margin
        self.pseudo_counts = pseudo_counts
        self.prior_mean = prior_mean
        self.prior_scale = prior_scale
        self.sampler = sampler
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def fit(self, labels: Any, known: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        labels : data frame, array or sequence of (item, worker, label), or SciPy sparse matrix
            Three columns, in this order or by these names; or a matrix of items by workers that
            stores the labels, those of class 0 too.
        known : mapping of items to labels, series, or table of two columns, optional
            True labels of some of the items.

        Warns
        -----
        ConvergenceWarning
            Where the chains have plainly not met.
        InterruptedWarning
            After Ctrl-C, which keeps the draws made so far once burn-in is over.
        """
        plan = check_settings(self)
        with all_or_nothing(self):
            model = self._read(labels, known, plan)
            begin = time.perf_counter()
            data = (*model.votes, model.known)
            with self._checkpointing(*data) as checkpoint:
                generators = spawn_generators(checkpoint.random_state, self.n_chains)
                models = [model] * self.n_chains
                chains, cut_short = self._sweep(models, generators, plan, checkpoint)
            self._keep(chains, plan)
            self.timings_ = {"total": time.perf_counter() - begin}
        self._warn(chains, plan, cut_short)
        return self

    def _read(self, labels: Any, known: Any, plan: Plan) -> Voting:
        """Votes, known labels and settings as the chains want them; sets the names."""
        named = read_named(labels)
        told_items, told = read_known(known)
        self.items_, item = np.unique(named.item, return_inverse=True)
        self.workers_, worker = np.unique(named.worker, return_inverse=True)
        self.classes_ = classes_of(named.label, told, self.n_classes)
        size, self.n_features_in_ = len(self.classes_), 3
        truth = np.full(len(self.items_), UNKNOWN)
        if len(told_items):
            truth[places_of(told_items, self.items_)] = numbers_of(told, self.classes_)
        label = numbers_of(named.label, self.classes_)
        strength = np.zeros((0, 0))
        if plan.pseudo_counts is not None:
            right, wrong = plan.pseudo_counts
            strength = np.where(np.eye(size, dtype=bool), right, wrong)
        return Voting(
            votes=sorted_votes(item, worker, label, len(self.items_)),
            known=truth,
            n_workers=len(self.workers_),
            n_classes=size,
            strength=strength,
            cost=float(self.C),
            margin=float(self.margin),
            mean=float(self.prior_mean),
            scale=float(self.prior_scale),
            dynamics=plan.dynamics,
            step=plan.step,
            moves=plan.moves,
        )

    def _keep(self, chains: list[Gibbs], plan: Plan) -> None:
        """Take over draws and probabilities."""
        attrs = {"C": float(self.C), "margin": float(self.margin)}
        self.probability_ = probabilities(chains)
        self.posterior_ = posterior_of(chains, self.workers_, self.classes_, attrs)
        length = min(chain.sweeps for chain in chains) - plan.burn_in
        self.diagnostics_ = diagnose(chains, length)

    @property
    def labels_(self) -> Any:
        """Most probable class of each item; the first on ties."""
        check_is_fitted(self)
        return self.classes_[self.probability_.argmax(axis=1)]

    def item_table(self) -> Any:
        """Items with their most probable label, its probability, and that of every class.

        Returns
        -------
        pandas.DataFrame
            A row an item.
        """
        import pandas

        check_is_fitted(self)
        columns = {f"p({name})": self.probability_[:, k] for k, name in enumerate(self.classes_)}
        best = {"label": self.labels_, "probability": self.probability_.max(axis=1)}
        return pandas.DataFrame({**best, **columns}, index=pandas.Index(self.items_, name="item"))

    def worker_table(self, probability: float = 0.9) -> Any:
        """Workers with accuracy and weight: posterior means, and intervals of a probability.

        Returns
        -------
        pandas.DataFrame
            A row a worker; accuracy is the probability of a right label, where there are matrices.
        """
        import pandas

        check_is_fitted(self)
        if not 0.0 < probability < 1.0:
            raise ValueError(f"probability={probability!r} is not allowed: it lies between 0 and 1")
        known = [name for name in ("accuracy", "weight") if name in self.posterior_]
        draws = {name: self.posterior_.flat(name) for name in known}
        columns = intervals(draws, probability)
        return pandas.DataFrame(columns, index=pandas.Index(self.workers_, name="worker"))

    def predict_proba(self, labels: Any) -> FloatArray:
        """Probabilities for further items, from the votes of workers that the fit has seen.

        Each item is judged by itself: its votes do not change what is known of workers.

        Parameters
        ----------
        labels : as for ``fit``

        Returns
        -------
        array of shape (n_items, n_classes)
            A row for each item that occurs, in the order of their names.
        """
        check_is_fitted(self)
        named = read_named(labels)
        items, item = np.unique(named.item, return_inverse=True)
        worker = places_of(named.worker, self.workers_, "worker")
        label = numbers_of(named.label, self.classes_)
        if (label == UNKNOWN).any():
            odd = named.label[label == UNKNOWN].tolist()[0]
            raise DataError(f"the label {odd!r} is none of those that the fit has seen")
        votes = sorted_votes(item, worker, label, len(items))
        draws = logs_of(self.posterior_)
        chances = np.zeros((len(items), len(self.classes_)))
        forecast(*votes, *draws, float(self.C), float(self.margin), chances)
        return chances

    def predict(self, labels: Any) -> Any:
        """Most probable class of further items; the first on ties."""
        chances = self.predict_proba(labels)
        return self.classes_[chances.argmax(axis=1)]
