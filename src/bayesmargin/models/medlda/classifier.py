"""The scikit-learn estimator for max-margin topic models."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin

from bayesmargin.foundation.arguments import require_positive
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.models.deciding import DecisionsMixin
from bayesmargin.models.medlda.answers import AnswersMixin
from bayesmargin.models.medlda.fitting import FittingMixin
from bayesmargin.models.medlda.samplers import SSGRLD, sampler_of, weights_of
from bayesmargin.models.medlda.understanding import UnderstandingMixin
from bayesmargin.samplers.langevin import SSGLD


class MedLDAClassifier(
    FittingMixin,
    UnderstandingMixin,
    AnswersMixin,
    DecisionsMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    BaseEstimator,
):
    r"""Max-margin supervised topic model: topics that predict labels, with their posterior.

    Documents are mixtures of topics, :math:`z_{dn} \sim \theta_d`, :math:`w_{dn} \sim
    \Phi_{z_{dn}}`, and a linear classifier with weights :math:`\eta \sim N(0, s^2)` reads the
    average assignment :math:`\bar z_d`. The posterior sampled is

    .. math:: q(\eta, \Phi, Z) \propto p_0(\eta, \Phi, Z)\, p(W \mid Z, \Phi)
              \prod_d \exp(-C\,\mathrm{hinge}(y_d, \eta\,\bar z_d)).

    Parameters
    ----------
    n_topics : int, default=50
        Number of topics K.
    alpha : float or None, default=None
        Dirichlet weight of *each* topic in a document; None is 10 / ``n_topics``.
    beta : float, default=0.1
        Dirichlet weight of each word in a topic.
    C : float or None, default=None
        Cost of the hinge; None is 1 for "ssgrld", 4 for "gibbs" and 64 for "pa".
    margin : float, default=164.0
        Margin of the hinge. Weights grow to its size, so it also sets how hard labels pull at
        topics.
    sampler : {"ssgrld", "gibbs", "pa"} or SSGRLD, CollapsedGibbs or PassiveAggressive
        Stochastic subgradient Riemannian Langevin dynamics in minibatches; collapsed and augmented
        Gibbs sampling; online Bayesian passive-aggressive learning. Or settings of these, such as
        ``SSGRLD(n_passes=3, weights="ssgnht")``.
    multi_class : {"multi_task", "crammer_singer", "ovr"}, default="multi_task"
        The hinge: one a class on shared topics; between the label and the best other class
        ("ssgrld" only); one model with topics of its own a class. Two classes always have one.
    prior_scale : float or None, default=None
        Prior standard deviation s of the weights; None is 1, and for D documents of L classes, n of
        them of the rarest, no less than :math:`\sqrt{3 L \ell / (C D)}` and (``fit``)
        :math:`\sqrt{2 \ell / (C n)}`, so that weights can reach the margin.
    n_chains : int, default=2
        Independent chains. They find different modes of the posterior: scores averaged over chains
        are better than those of a longer chain.
    n_draws : int or None, default=None
        Posterior draws kept in a chain (spread over its second half), of which predictions average
        the weights; None is 10.
    validation_fraction : float, default=0.05
        Part of the documents (300 at most) held out to learn probabilities and the thresholds of
        label sets, and to report accuracy while fitting. With 0 training documents are used.
    random_state : int, Generator, RandomState or None, default=None
        Seed; equal seeds give equal results whatever ``n_jobs`` is, on processors of one kind.
    n_jobs : int or None, default=None
        Threads that share a minibatch, as for :class:`BayesianLinearSVC`: None takes all cores (16
        at most, each with counts of its own).
    verbose : int, default=0
        Show progress when positive.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it,
        bit by bit. Removed when the fit is complete.
    **more
        Settings inside objects by paths, such as ``sampler__batch_size``.

    Attributes
    ----------
    classes_ : ndarray
        Labels; for an indicator matrix the numbers of its columns.
    coef_ : ndarray of shape (1 or L, K)
        Posterior mean of the weights, first chain (topics of different chains do not correspond).
        With "ovr" the L models stand side by side, in blocks.
    topics_ : ndarray of shape (K, V)
        Posterior mean of the topics, first chain; rows sum to 1.
    posterior_ : list of TopicPosterior
        The draws; one entry a chain, or with "ovr" one a chain and class.
    diagnostics_ : TopicDiagnostics
        Whether the kept draws still drift; prints as a sentence, has ``trustworthy``.
    n_features_in_, feature_names_in_
        Size and names of the vocabulary.

    Notes
    -----
    The draws take ``n_chains * n_draws * V * K * 4`` bytes ("ovr": times L), whatever the number of
    documents.

    Predictions integrate topics out: :math:`\mathrm{E}[\Phi_{kw} \mid Z] = (\beta + n_{kw}) / (V
    \beta + n_{k\cdot})`, with counts averaged along the chain.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin import MedLDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["moon", "star"], 30)
    >>> X = rng.poisson(np.where(y[:, None] == "moon", [3, 3, 0.2, 0.2], [0.2, 0.2, 3, 3]))
    >>> model = MedLDAClassifier(n_topics=2, random_state=0).fit(X, y)
    >>> model.predict([[5, 4, 0, 0], [0, 0, 3, 6]])
    array(['moon', 'star'], dtype='<U4')
    >>> model.top_words(["crater", "tide", "sun", "nova"], n=2)
    [['tide', 'crater'], ['sun', 'nova']]
    """

    short_forms: ClassVar[ShortForms] = {**FittingMixin.short_forms, "sampler": sampler_of}
    former_names: ClassVar[Mapping[str, str]] = {
        **FittingMixin.former_names,
        "method": "sampler",
        "n_passes": "sampler__n_passes",
        "batch_size": "sampler__batch_size",
        "n_sweeps": "sampler__n_sweeps",
        "topics": "sampler__topics",
        "topic_step": "sampler__topic_step",
        "weights": "sampler__weights",
        "weight_step": "sampler__weights__step",
        "n_documents": "sampler__n_documents",
    }

    def __init__(
        self,
        n_topics: int = 50,
        alpha: float | None = None,
        beta: float = 0.1,
        C: float | None = None,
        margin: float = 164.0,
        *,
        sampler: Any = "ssgrld",
        multi_class: str = "multi_task",
        prior_scale: float | None = None,
        n_chains: int = 2,
        n_draws: int | None = None,
        validation_fraction: float = 0.05,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.C = C
        self.margin = margin
        self.sampler = sampler
        self.multi_class = multi_class
        self.prior_scale = prior_scale
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def _set_former(self, former: Mapping[str, Any]) -> None:
        """Settings by the names of before: of Langevin steps ``weight_step`` was the square."""
        super()._set_former({name: former[name] for name in former if name != "weight_step"})
        step = former.get("weight_step")
        if step is None:
            return
        sampler = sampler_of(self.sampler)
        if not isinstance(sampler, SSGRLD):
            return
        require_positive(weight_step=step)
        squared = isinstance(weights_of(sampler.weights), SSGLD)
        super()._set_former({"weight_step": math.sqrt(step) if squared else step})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True
        tags.target_tags.multi_output = False
        return tags
