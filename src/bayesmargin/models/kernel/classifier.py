r"""A Bayesian support vector machine with a kernel, and the interface of scikit-learn."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from bayesmargin.distributed import is_collection
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.kernel.kernels import kernel_of
from bayesmargin.models.kernel.settings import check_kernel_settings
from bayesmargin.models.kernel.streaming import fit_pieces
from bayesmargin.models.kernel.training import KernelTraining
from bayesmargin.models.settings import check_sample_weight, resolve_sampler
from bayesmargin.rows.files import FileRows


class BayesianSVC(ClassifierMixin, KernelTraining):
    r"""Bayesian support vector machine with a kernel, in place of ``SVC(probability=True)``.

    .. math:: f \sim \mathrm{GP}(0, \sigma^2 k), \quad b \sim N(0, \sigma^2), \qquad
              p(f, b \mid \text{data}) \propto p_0(f, b)
              \prod_d \exp\left(-C\,(\ell - y_d (f(x_d) + b))_+\right)

    With :math:`\sigma = \ell = 1` its mode is the solution of ``SVC(C=C)`` with the same kernel, up
    to the prior of the intercept. :math:`f` is held by features that explain the kernel between the
    rows; what they leave out of the score of a row counts as doubt. So a row that is like no
    training row is uncertain, and its probabilities are the shares of the classes.

    Parameters
    ----------
    C : float or "auto"
        Weight of the hinge, as in ``SVC``. "auto" chooses it, and likewise ``gamma`` and
        ``n_components``, by the log loss of training rows that are left out by computation: a
        Gaussian fit a candidate, no refits.
    kernel : {"rbf", "laplacian", "poly", "linear", "cosine", "precomputed"}, callable or Kernel
        A function gets two matrices of rows, as in ``SVC``. ``kernel__degree`` and
        ``kernel__coef0`` are settings of the polynomial; ``kernel__features="random"`` describes
        rows of "rbf" and "laplacian" by random waves instead of landmarks.
    gamma : float, "auto" or "scale"
        Of the kernels "rbf", "laplacian" and "poly". "auto" chooses it (in ``SVC`` the word means
        one over the number of columns). "scale" is one over the number of columns
        times the variance of ``X``, as in ``SVC``.
    n_components : int or "auto"
        Features that hold the kernel; "auto" takes as many as rows left out ask for, and of several
        classes 400, or 3,000 for all classes together. As many as there are rows is exact.
    margin : float
        Margin :math:`\ell` that a score should reach.
    prior_scale : float
        The scale :math:`\sigma` of the scores before any row is seen, for a kernel of one.
    multi_class : {"ovr", "crammer_singer"}
        More than two classes: a model of each against the rest, or one hinge that all share, whose
        weights are sampled together, which takes longer. Two classes are the same either way.
    sampler : str or Sampler
        "auto" makes independent draws of the Gaussian nearest to the posterior where that is not
        skewed, and else chains; ``diagnostics_`` says which. Or any sampler of
        :class:`BayesianLinearSVC`.
    n_chains, n_draws : int
        Chains, and draws kept from each.
    class_weight : None, "balanced" or dict
        Factor of ``C`` for each class. Probabilities are then those of classes that are as frequent
        as they count.
    random_state : int, Generator, RandomState or None
        Seed; equal seeds give equal draws whatever ``n_jobs``.
    n_jobs : int or None
        Threads, no more than there are chains, as in :class:`BayesianLinearSVC`.
    verbose : int
        1 shows progress.
    checkpoint : path-like, Checkpoint or None
        Folder from which an interrupted fit of the same data and settings goes on.
    **more
        Settings inside objects by paths, such as ``kernel__degree``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    C_, gamma_ : float
        The ``C`` and ``gamma`` that were used.
    profile_, sizes_ : Profile or None
        What candidates of ``C`` and ``gamma``, and of two classes numbers of components, were
        worth; print them.
    map_ : FeatureMap or FourierMap
        Landmarks or random waves, and the features made of them.
    coef_, intercept_ : arrays of shape (1, n_components) and (1,)
        Posterior means of the weights of the features; with more classes a row for each.
    posterior_ : Posterior
        Draws ``coef``, ``intercept`` and ``unseen``, of what the features leave out.
    diagnostics_ : Diagnostics
        How the draws were made and how good they are: skewness and bias of a Gaussian; R-hat,
        effective sample sizes, temperature and bias of chains. Print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayesmargin import BayesianSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = BayesianSVC(n_draws=200, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True

    Far from all rows the classes are as likely as they are frequent:

    >>> model.predict_proba([[40.0, 40.0]]).round(2)
    array([[0.5, 0.5]])
    """

    short_forms: ClassVar[ShortForms] = {
        **KernelTraining.short_forms,
        "sampler": resolve_sampler,
        "kernel": kernel_of,
    }

    def __init__(
        self,
        C: Any = "auto",
        kernel: Any = "rbf",
        gamma: Any = "auto",
        n_components: Any = "auto",
        margin: float = 1.0,
        prior_scale: Any = 1.0,
        multi_class: str = "ovr",
        sampler: Any = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        **more: Any,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.margin = margin
        self.prior_scale = prior_scale
        self.multi_class = multi_class
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self._take(more)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Sample the posterior of the scores.

        Parameters
        ----------
        X : array-like, FileRows or Dask collection of shape (n_samples, n_features)
            Rows, whose columns should be of one scale; with ``kernel="precomputed"`` the kernel of
            the rows with each other. Of rows in files (:func:`bayesmargin.rows.open_rows`) and on a
            cluster some choose settings and features, and all are read as features where they lie.
        y : array-like of shape (n_samples,)
            Class labels of any type; may be left out when ``X`` is a file that holds them.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies ``C`` row by row; a row of weight two counts as two rows.
        """
        check_kernel_settings(self)
        with all_or_nothing(self):
            if is_collection(X):
                from bayesmargin.distributed.kernel import fit_collection

                if self.class_weight is not None:
                    raise ValueError(
                        "class_weight is not known for Dask collections: leave it out, or pass the "
                        "weights of rows as sample_weight"
                    )
                fit_collection(self, X, y, sample_weight)
                return self
            X, y = self._labelled(X, y)
            check_classification_targets(y)
            weight = check_sample_weight(sample_weight, X.shape[0])
            every = bool(np.all(weight > 0.0))
            source = "y" if every else "y without the rows whose sample_weight is zero"
            self._set_classes(np.unique(y[weight > 0.0]), source)
            if isinstance(X, FileRows):
                fit_pieces(self, X, y, weight)
                return self
            return self._update(X, y, weight)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; ``y`` may be left out when ``X`` is a file that holds the labels."""
        if is_collection(X):
            from bayesmargin.distributed.predicting import accuracy

            return accuracy(self, X, y, sample_weight)
        y = X.checked_labels(y) if isinstance(X, FileRows) else y
        return float(super().score(X, y, sample_weight))
