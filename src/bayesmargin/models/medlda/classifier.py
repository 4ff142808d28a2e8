"""The scikit-learn estimator for max-margin topic models."""

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin

from bayesmargin.models.medlda.answers import AnswersMixin
from bayesmargin.models.medlda.fitting import FittingMixin
from bayesmargin.models.medlda.understanding import UnderstandingMixin


class MedLDAClassifier(
    FittingMixin,
    UnderstandingMixin,
    AnswersMixin,
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
    method : {"ssgrld", "gibbs", "pa"}, default="ssgrld"
        Stochastic subgradient Riemannian Langevin dynamics in minibatches; collapsed and augmented
        Gibbs sampling; online Bayesian passive-aggressive learning.
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
    n_passes : int or None, default=None
        Passes over the documents: 6 for "ssgrld" (150 minibatches at least), 60 for "gibbs", 1
        for "pa".
    batch_size : int, default=256
        Documents in a minibatch; the first are smaller (an eighth), growing to this size.
    n_sweeps : int, default=5
        Gibbs sweeps over the words of a minibatch; "ssgrld" discards the first third.
    topics : {"sgrld", "scir"}, default="sgrld"
        How "ssgrld" moves topics: Langevin steps, or the flow without discretisation error, whose
        cost does not depend on the vocabulary.
    weights : {"ssgld", "ssgnht"}, default="ssgld"
        How "ssgrld" moves weights: Langevin steps, or a thermostat, whose draws are not widened by
        the noise of minibatches. It takes over from Langevin steps after 60 minibatches, or four
        tenths of those of a fit.
    topic_step : float, default=1.0
        Share of the topics that the first minibatches renew; it falls as their number to the power
        0.85 ("ovr": 0.6).
    weight_step : float or None, default=None
        Step of the weights, :math:`h^2` for "ssgld", which for None is :math:`2 \ell / (C D)` for
        a corpus of D documents. For "ssgnht" a step :math:`h` common to all weights; None learns
        from their gradients how far each may move.
    n_documents : int or None, default=None
        Size of the corpus that ``partial_fit`` sees a part of; None is the number seen so far, and
        where no ``fit`` came before 10,000 at least.
    validation_fraction : float, default=0.05
        Part of the documents (300 at most) held out to learn probabilities and the thresholds of
        label sets, and to report accuracy while fitting. With 0 training documents are used.
    random_state : int, Generator, RandomState or None, default=None
        Seed; equal seeds give equal results whatever ``n_jobs`` is, on processors of one kind.
    n_jobs : int or None, default=None
        Threads; -1 is every core.
    verbose : int, default=0
        Show progress when positive.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it,
        bit by bit. Removed when the fit is complete.
    **more
        Settings inside objects by paths, such as ``checkpoint__every``.

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

    def __init__(
        self,
        n_topics: int = 50,
        alpha: float | None = None,
        beta: float = 0.1,
        C: float | None = None,
        margin: float = 164.0,
        method: str = "ssgrld",
        multi_class: str = "multi_task",
        prior_scale: float | None = None,
        n_chains: int = 2,
        n_draws: int | None = None,
        n_passes: int | None = None,
        batch_size: int = 256,
        n_sweeps: int = 5,
        topics: str = "sgrld",
        weights: str = "ssgld",
        topic_step: float = 1.0,
        weight_step: float | None = None,
        n_documents: int | None = None,
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
        self.method = method
        self.multi_class = multi_class
        self.prior_scale = prior_scale
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.n_sweeps = n_sweeps
        self.topics = topics
        self.weights = weights
        self.topic_step = topic_step
        self.weight_step = weight_step
        self.n_documents = n_documents
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True
        tags.target_tags.multi_output = False
        return tags
