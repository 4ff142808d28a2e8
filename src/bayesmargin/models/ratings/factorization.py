"""Max-margin matrix factorization of ordinal ratings, the estimator."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesmargin.errors import DataError
from bayesmargin.foundation.arguments import require_choice
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.ratings.draws import liking, posterior_of, probabilities
from bayesmargin.models.ratings.model import Factorization
from bayesmargin.models.ratings.reading import read_pairs, read_ratings
from bayesmargin.models.ratings.settings import BATCHES, Plan, check_settings, sampler_of_rows
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.settling import figures_of, intervals
from bayesmargin.models.sweeping import SweepingMixin

STATISTICS = ("median", "mean", "mode")
WATCHED = ("hinge", "items", "factors", "features")
FIRST_FEATURES = 4


class MaxMarginFactorization(SweepingMixin, SavedMixin, BaseEstimator):
    r"""Ratings of items by users, as scores that should lie between thresholds by a margin.

    A user's score for an item is :math:`m_{ij} = a_i + d_j + U_i \cdot V_j`. Rating y of the
    levels :math:`1..R` wants it above the thresholds :math:`\theta_{ir}` of that user with
    :math:`r < y`, :math:`T_{ij}^r = -1`, and below the others, :math:`T_{ij}^r = 1` (Xu, Zhu and
    Zhang, 2013):

    .. math:: p(U, V, a, d, \theta \mid y) \propto p(U)\,p(V)\,p(a)\,p(d)\,p(\theta)
              \prod_{ij} \prod_{r=1}^{R-1}
              e^{-C (\ell - T_{ij}^r (\theta_{ir} - m_{ij}))_+}

    with Gaussian priors, whose scales and mean thresholds are learned. The probability of a rating
    is in proportion to its factor :math:`\psi(y) = \prod_r e^{-C(\cdot)_+}`, averaged over draws.

    Parameters
    ----------
    n_factors : int or "infinite"
        Length of :math:`U_i` and :math:`V_j`; with 0 there are biases and thresholds alone. With
        "infinite", users have binary features, as many as the ratings ask for: an Indian buffet.
    C : float
        Weight of the hinges: at twice ``margin`` from a threshold it costs 2 C to be wrong.
    margin : float
        By how much a score should be on the right side, :math:`\ell`; the unit of scores.
    levels : sequence, optional
        All ratings from the worst to the best; by default the numbers that occur.
    prior_scale : float or tuple of two floats
        Scales that are expected of biases, with thresholds around their means, and of the factors
        of items; those of users have scale one.
    learn_scales : bool
        Whether the scales, one for each column, are learned.
    concentration : float
        Of the Indian buffet: features that a first user would have.
    sampler : "gibbs", "ssgnht", "sghmc", AugmentationGibbs, SSGNHT or SGHMC
        Exact conditionals by augmentation, or minibatches of ratings: then a sweep makes as many
        steps as read each rating once, or ``thin`` times, and a batch is a twentieth of them.
    n_sweeps : int
        Sweeps of each chain, half of them burn-in unless the sampler says otherwise.
    n_chains : int
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
    users_, items_, levels_ : arrays
        Names, and levels in their order.
    posterior_ : Posterior
        Draws of "user_bias", "user_factors", "thresholds" (user, cut), "item_bias" and
        "item_factors", and of "new_user" and "new_item", of whom nothing is known. Of an infinite
        model, features are zeros and ones in "user_factors", those that a draw lacks are zeros,
        and "n_features" is their number.
    diagnostics_ : SweepDiagnostics
        Prints as a sentence, has ``trustworthy``, and is a dictionary of figures of the hinges a
        rating, of how far items differ, and of what factors do to scores.

    Examples
    --------
    Half of the users like what the others do not:

    >>> import numpy as np
    >>> from bayesmargin import MaxMarginFactorization
    >>> rng = np.random.default_rng(0)
    >>> rows = [(i, j, 5 if (i + j) % 2 else 2) for i in range(30) for j in range(20)
    ...         if rng.random() < 0.5]
    >>> model = MaxMarginFactorization(2, n_sweeps=60, random_state=0).fit(rows)
    >>> model.predict([(0, 1), (0, 2), (1, 1), (1, 2)]).tolist()
    [5, 2, 2, 5]
    """

    short_forms: ClassVar[ShortForms] = {**SavedMixin.short_forms, "sampler": sampler_of_rows}

    def __init__(
        self,
        n_factors: int = 10,
        *,
        C: float = 0.6,
        margin: float = 1.0,
        levels: Any = None,
        prior_scale: Any = (0.5, 0.3),
        learn_scales: bool = True,
        concentration: float = 3.0,
        sampler: Any = "gibbs",
        n_sweeps: int = 800,
        n_chains: int = 4,
        n_draws: int = 25,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.n_factors = n_factors
        self.C = C
        self.margin = margin
        self.levels = levels
        self.prior_scale = prior_scale
        self.learn_scales = learn_scales
        self.concentration = concentration
        self.sampler = sampler
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def fit(self, ratings: Any, y: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        ratings : data frame, array or sequence of (user, item, rating), or SciPy sparse matrix
            Three columns, in this order or by these names; or a matrix of users by items that
            stores the ratings.
        y : None
            Ignored.

        Warns
        -----
        ConvergenceWarning
            Where the chains have plainly not met.
        InterruptedWarning
            After Ctrl-C, which keeps the draws made so far once burn-in is over.
        """
        plan = check_settings(self)
        with all_or_nothing(self):
            model = self._read(ratings, plan)
            begin = time.perf_counter()
            with self._checkpointing(*model.by_user) as checkpoint:
                generators = spawn_generators(checkpoint.random_state, self.n_chains)
                models = [model] * self.n_chains
                chains, cut_short = self._sweep(models, generators, plan, checkpoint)
            attrs = {"C": float(self.C), "margin": float(self.margin)}
            named = (self.users_, self.items_, self.levels_)
            self.posterior_ = posterior_of(chains, *named, bool(plan.concentration), attrs)
            length = min(chain.sweeps for chain in chains) - plan.burn_in
            self.diagnostics_ = figures_of(chains, length, WATCHED)
            self.timings_ = {"total": time.perf_counter() - begin}
        self._warn(chains, plan, cut_short)
        return self

    def _read(self, ratings: Any, plan: Plan) -> Factorization:
        """Ratings and settings as the chains want them; sets the names."""
        read = read_ratings(ratings, self.levels)
        self.users_, self.items_, self.levels_ = read.users, read.items, read.levels
        self.n_features_in_ = 3
        count = len(read.by_user.level)
        return Factorization(
            by_user=read.by_user,
            by_item=read.by_item,
            n_factors=FIRST_FEATURES if plan.concentration else int(self.n_factors),
            n_levels=len(read.levels),
            cost=float(self.C),
            margin=float(self.margin),
            expected=plan.expected,
            dynamics=plan.dynamics,
            batch=plan.batch_size or -(-count // BATCHES),
            friction=plan.friction,
            passes=plan.passes,
            concentration=plan.concentration,
        )

    def predict_proba(self, pairs: Any) -> FloatArray:
        """Probabilities of every level for pairs of users and items.

        Of users and items that the fit has not seen only what it has learned of all is known.

        Parameters
        ----------
        pairs : data frame, array or sequence of (user, item)
            A rating that stands behind them is left aside.

        Returns
        -------
        array of shape (n_pairs, n_levels)
        """
        check_is_fitted(self)
        i, j = read_pairs(pairs, self.users_, self.items_)
        return probabilities(self.posterior_, i, j, float(self.C), float(self.margin))

    def predict(self, pairs: Any, statistic: str = "median") -> Any:
        """Ratings for pairs of users and items.

        Parameters
        ----------
        pairs : as for ``predict_proba``
        statistic : {"median", "mean", "mode"}
            The median has the least absolute error to be expected, the mean the least squared one
            and needs levels that are numbers, the mode is the most probable rating.
        """
        require_choice("statistic", statistic, STATISTICS)
        chance = self.predict_proba(pairs)
        if statistic == "mean":
            if self.levels_.dtype.kind not in "iufb":
                raise DataError(f"the levels {self.levels_.tolist()} are words, without a mean")
            return chance @ self.levels_
        if statistic == "mode":
            return self.levels_[chance.argmax(axis=1)]
        return self.levels_[_quantile(chance, 0.5)]

    def predict_interval(self, pairs: Any, probability: float = 0.9) -> Any:
        """Lowest and highest rating of an interval that has at least this probability.

        At most half of what is missing lies on either side.

        Returns
        -------
        array of shape (n_pairs, 2)
        """
        _require_probability(probability)
        chance, tail = self.predict_proba(pairs), 0.5 - 0.5 * probability
        ends = (_quantile(chance, tail), _quantile(chance, 1.0 - tail))
        return np.column_stack([self.levels_[end] for end in ends])

    def item_table(self, probability: float = 0.9) -> Any:
        """Items with how much users like them on average: posterior means and intervals.

        Returns
        -------
        pandas.DataFrame
            A row an item; "liking" is what scores have of the item, over all users.
        """
        import pandas

        check_is_fitted(self)
        _require_probability(probability)
        columns = intervals({"liking": liking(self.posterior_)}, probability)
        return pandas.DataFrame(columns, index=pandas.Index(self.items_, name="item"))


def _quantile(chance: FloatArray, share: float) -> Any:
    """The first level up to which there is so much probability."""
    upto = np.cumsum(chance, axis=1)[:, :-1]
    return (upto < share - 1e-12).sum(axis=1)


def _require_probability(probability: Any) -> None:
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r} is not allowed: it lies between 0 and 1")
