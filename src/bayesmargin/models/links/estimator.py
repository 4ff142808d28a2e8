"""Max-margin links by latent features, the estimator."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.links.answers import chances_of, mean_odds, odds_of, order_of, scores_of
from bayesmargin.models.links.diagnostics import LinksDiagnostics, diagnose
from bayesmargin.models.links.model import LinkModel
from bayesmargin.models.links.pairs import fewer_negatives, indexed, split_off, weight_of_links
from bayesmargin.models.links.reading import pairs_of, read_links, read_pairs
from bayesmargin.models.links.settings import (
    Plan,
    check_settings,
    mover_of,
    sampler_of_weights,
)
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.sweeping import SweepingMixin
from bayesmargin.posterior import Posterior
from bayesmargin.running.gibbs import Gibbs

HIDDEN = 0.15  # share of the pairs that the chains which teach probabilities are not shown


class MaxMarginLinks(SweepingMixin, SavedMixin, BaseEstimator):
    r"""Which entities are linked, by binary features that the data ask for (Zhu, 2012).

    Entity i holds features :math:`z_i`, zeros and ones; relation r links i and j by the score

    .. math:: f^r_{ij} = b_r + z_i^T W_r z_j, \qquad
              p(Z, W, b \mid y) \propto p(Z)\, p(W)\, p(b)
              \prod_{ijr} e^{-C (\ell - y^r_{ij} f^r_{ij})_+} ,

    with :math:`y = 1` for a link and -1 for none, and :math:`W_{kk'} \sim N(0, s^2)`. How many
    features there are is open: Z has the prior of the Indian buffet process. Features are drawn
    with the hinge itself, new ones with their weights integrated out; weights by augmentation Gibbs
    sampling, or moved by a sampler of the library.

    Parameters
    ----------
    directed : bool
        Whether a link from i to j says nothing of one from j to i.
    C : float
        Weight of the hinge.
    margin : float
        By how much scores should be on the right side, :math:`\ell`.
    prior_scale : float
        Standard deviation s of the weights of pairs of features.
    concentration : float or "learn"
        Of the process: an entity holds so many features before any link is seen. Learned with the
        prior Gamma(1, 1).
    link_weight : float or "balanced"
        Cost of a link missed, in those of one seen where there is none; "balanced": so many as
        there are pairs without a link for each with one. The map from scores to probabilities takes
        account of it.
    negatives : float, optional
        Pairs without a link that are read for each link, chosen once; each then stands for as many
        as were left out. By default all are read.
    sampler : str or sampler
        How weights move: "gibbs" (augmentation), "hmc", "lmc", all exact, or "ssgld", "ssgnht",
        "sghmc", which read all links and a fresh batch of other pairs a step; ``thin`` is the
        number of moves a sweep. Burn-in is half of the sweeps unless ``burn_in`` says otherwise.
    n_sweeps : int
        Sweeps over all features and weights of each chain.
    n_chains : int
        Chains; as many more are not shown a part of the pairs, from which the map from scores
        to probabilities is learned.
    n_draws : int
        Draws that each chain keeps.
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
    entities_, relations_ : arrays
        Names in order.
    n_features_ : array of shape (n_chains, n_sweeps)
        Number of features after every sweep once burn-in is over: draws of its posterior.
    posterior_ : Posterior
        Draws of "n_features", "n_shared" (held by two entities or more) and "intercept" (relation).
    chances_ : Chances
        The map from what draws say to probabilities: slope and offset of log odds.
    diagnostics_ : LinksDiagnostics
        Prints as a sentence, has ``trustworthy``, and is a dictionary of figures.

    Examples
    --------
    Two groups, within which nine of ten are linked:

    >>> import numpy as np
    >>> from bayesmargin import MaxMarginLinks
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(30) % 2
    >>> links = np.triu(rng.random((30, 30)) < np.where(group[:, None] == group, 0.9, 0.0), 1)
    >>> model = MaxMarginLinks(C=2.0, n_sweeps=60, n_chains=2, random_state=0)
    >>> chance = model.fit(links + links.T).predict_proba([(0, 2), (0, 1)])[:, 1]
    >>> bool(chance[0] > 0.6 and chance[1] < 0.2)
    True
    """

    _verdict = LinksDiagnostics
    short_forms: ClassVar[ShortForms] = {
        **SavedMixin.short_forms,
        "sampler": sampler_of_weights,
    }

    def __init__(
        self,
        directed: bool = False,
        *,
        C: float = 1.0,
        margin: float = 1.0,
        prior_scale: float = 1.0,
        concentration: Any = "learn",
        link_weight: Any = 1.0,
        negatives: float | None = None,
        sampler: Any = "gibbs",
        n_sweeps: int = 400,
        n_chains: int = 4,
        n_draws: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.directed = directed
        self.C = C
        self.margin = margin
        self.prior_scale = prior_scale
        self.concentration = concentration
        self.link_weight = link_weight
        self.negatives = negatives
        self.sampler = sampler
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def fit(self, links: Any, y: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        links : array, SciPy sparse matrix, data frame, or mapping of relations to matrices
            A square matrix of ones for links, zeros for none and NaN where nobody knows; several
            relations as (relation, entity, entity) or by their names. A data frame with columns
            "source" and "target", and perhaps "relation" and "link": without the last, pairs that
            are not there have no link; with it nothing is known of them. What the diagonal says is
            not read.
        y : None
            Not used.

        Warns
        -----
        ConvergenceWarning
            Where the chains have plainly not met.
        InterruptedWarning
            After Ctrl-C, which keeps the draws made so far once burn-in is over.
        """
        plan = check_settings(self)
        with all_or_nothing(self):
            known = read_links(links)
            asked = pairs_of(known, self.directed)
            begin = time.perf_counter()
            with self._checkpointing(*asked) as checkpoint:
                *generators, own = spawn_generators(checkpoint.random_state, 2 * self.n_chains + 1)
                if self.negatives is not None:
                    asked = fewer_negatives(asked, float(self.negatives), own)
                self.entities_, self.relations_ = known.entities, known.relations
                self.n_features_in_ = len(known.entities)
                shown, hidden = split_off(asked, HIDDEN, own)
                link_weight = weight_of_links(self.link_weight, asked)
                models = [self._model(asked, plan, link_weight)] * self.n_chains
                models += [self._model(shown, plan, link_weight)] * self.n_chains
                every, cut_short = self._sweep(
                    models, generators, plan, checkpoint, shown=self.n_chains
                )
            chains, others = every[: self.n_chains], every[self.n_chains :]
            self._keep(chains, plan)
            told = [draw for chain in others for draw in chain.draws]
            self.chances_ = chances_of(told, hidden, float(self.margin))
            self.timings_ = {"total": time.perf_counter() - begin}
        self._warn(chains, plan, cut_short)
        return self

    def _model(self, asked: Any, plan: Plan, link_weight: float) -> LinkModel:
        """What the chains have in common."""
        roles = 2 if self.directed else 1
        relations = len(self.relations_)
        cost = self.C * asked.weight * np.where(asked.linked > 0, link_weight, 1.0)
        mover, step = mover_of(plan.sampler, int(asked.linked.sum()))
        return LinkModel(
            pairs=indexed(asked, cost, len(self.entities_), relations * roles, roles),
            n_entities=len(self.entities_),
            n_relations=relations,
            roles=roles,
            scale=float(self.prior_scale),
            margin=float(self.margin),
            concentration=plan.concentration,
            step=step,
            mover=mover,
        )

    def _keep(self, chains: list[Gibbs], plan: Plan) -> None:
        """Take over draws and traces."""
        length = min(chain.sweeps for chain in chains) - plan.burn_in
        sizes = [chain.kept("features")[:length] for chain in chains]
        self.n_features_ = np.array(sizes).astype(np.int64)
        number = min(len(chain.draws) for chain in chains)
        kept = [chain.draws[-number:] for chain in chains]
        self._draws = [draw for part in kept for draw in part]
        shared = [[float((d.held.sum(axis=0) > 1).sum()) for d in part] for part in kept]
        values = {
            "n_features": np.array([[float(d.held.shape[1]) for d in part] for part in kept]),
            "n_shared": np.array(shared),
            "intercept": np.array([[draw.intercept for draw in part] for part in kept]),
        }
        dims = {"n_features": (), "n_shared": (), "intercept": ("relation",)}
        coords = {"relation": self.relations_.tolist()}
        attrs = {"C": float(self.C), "margin": float(self.margin)}
        self.posterior_ = Posterior(values, dims, coords, attrs)
        self.diagnostics_ = diagnose(chains, length)

    def _asked(self, pairs: Any) -> tuple[IntArray, ...]:
        check_is_fitted(self)
        return read_pairs(pairs, self.entities_, self.relations_)

    def predict_proba(self, pairs: Any) -> FloatArray:
        """Probabilities that pairs are linked.

        Parameters
        ----------
        pairs : data frame, or sequence of (source, target) or (source, target, relation)
            By names; a data frame has these columns. The relation may be left out of one.

        Returns
        -------
        array of shape (n_pairs, 2)
            Probabilities of no link and of a link.
        """
        asked = self._asked(pairs)
        chance = self.chances_.apply(mean_odds(self._draws, asked, float(self.margin)))
        return np.stack([1.0 - chance, chance], axis=1)

    def predict(self, pairs: Any) -> Any:
        """Whether a link is more probable than none, for pairs as in :meth:`predict_proba`."""
        return self.predict_proba(pairs)[:, 1] > 0.5

    def decision_function(self, pairs: Any) -> FloatArray:
        r"""Log odds of the mean over draws of :math:`\sigma(2 f / \ell)`, for scores f of pairs.

        Probabilities rise with them (``chances_``).
        """
        return mean_odds(self._draws, self._asked(pairs), float(self.margin))

    def predict_interval(self, pairs: Any, coverage: float = 0.9) -> FloatArray:
        """Intervals that hold the probability of a link in this share of the draws.

        Returns
        -------
        array of shape (n_pairs, 2)
            Ends of central intervals of the probability at the scores of single draws.
        """
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage={coverage!r} is not allowed: it lies between 0 and 1")
        asked = self._asked(pairs)
        scores = np.stack([scores_of(draw, asked) for draw in self._draws])
        ends = np.quantile(scores, [0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage], axis=0)
        return self.chances_.apply(odds_of(ends.T, float(self.margin)))

    def probability_matrix(self, relation: Any = None) -> FloatArray:
        """Probabilities of links between all entities, by one relation.

        Parameters
        ----------
        relation : name, optional
            May be left out of one.

        Returns
        -------
        array of shape (n_entities, n_entities)
            In the order of ``entities_``. Nobody is linked to himself.
        """
        check_is_fitted(self)
        number = self._relation(relation)
        size = len(self.entities_)
        source, target = (part.ravel() for part in np.indices((size, size)))
        asked = source, target, np.full(size * size, number)
        odds = mean_odds(self._draws, asked, float(self.margin))
        chance = self.chances_.apply(odds).reshape(size, size)
        np.fill_diagonal(chance, 0.0)
        return chance

    def _relation(self, relation: Any) -> int:
        names = self.relations_.tolist()
        if relation is None and len(names) == 1:
            return 0
        if relation not in names:
            raise ValueError(
                f"relation={relation!r} is not allowed: the fit has seen "
                f"{', '.join(map(repr, names[:8]))}"
            )
        return int(names.index(relation))

    def order(self) -> IntArray:
        """Numbers of the entities, those of like features beside each other, in the last draw.

        A matrix of links shows its blocks in this order: ``links[np.ix_(order, order)]``.
        """
        check_is_fitted(self)
        return order_of(self._draws[-1].held)

    def co_features(self) -> FloatArray:
        """How many features two entities share, in the mean over draws.

        Unlike features themselves this does not depend on their numbers, which differ from draw to
        draw.

        Returns
        -------
        array of shape (n_entities, n_entities)
        """
        check_is_fitted(self)
        total = np.zeros((len(self.entities_), len(self.entities_)))
        for draw in self._draws:
            held = draw.held.astype(float)
            total += held @ held.T
        return total / len(self._draws)
