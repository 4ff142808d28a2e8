r"""A Bayesian linear support vector machine with the interface of scikit-learn."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from bayesmargin.diagnostics.assessment import contradicted
from bayesmargin.distributed import is_collection
from bayesmargin.foundation.settings import ShortForms
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.linear.adjusting import earlier_rows
from bayesmargin.models.linear.reading import label_sets
from bayesmargin.models.linear.training import Before, LinearTraining
from bayesmargin.models.linear.weighing import group_numbers
from bayesmargin.models.settings import (
    check_linear_settings,
    check_sample_weight,
    resolve_sampler,
)
from bayesmargin.priors.moments import largest_contradiction, posterior_beliefs
from bayesmargin.rows.files import FileRows


class BayesianLinearSVC(ClassifierMixin, LinearTraining):
    r"""Bayesian linear SVM: the hinge loss as a pseudo-likelihood, the answer a posterior.

    .. math:: p(w \mid \text{data}) \propto p_0(w) \prod_d \exp\left(-C\,(\ell - y_d\,w \cdot x_d)_+
              \right)

    With a Gaussian prior of scale one and margin one its mode is the solution of
    ``LinearSVC(C=C, loss="hinge")``. More than two classes use the hinge of Crammer and Singer, or
    one binary model a class. Nothing needs tuning: the default sampler finds its own coordinates,
    batches and length.

    Parameters
    ----------
    C : float or "auto"
        Weight of the hinge, as in scikit-learn. "auto" chooses it by the log loss of training rows
        that Gaussian fits to the others forecast, in five parts.
    margin : float
        Margin :math:`\ell` that a score should reach.
    prior : {"gaussian", "laplace"}
        Prior of every weight, the intercept included.
    prior_scale : float or "auto"
        Standard deviation of the Gaussian, or scale of the Laplace distribution. "auto" is the
        margin divided by the usual length of a row, at which scores are as wide as the margin
        before anything is learned: what embeddings of any length and width want.
    fit_intercept : bool
        Whether a constant feature is added.
    multi_class : {"crammer_singer", "ovr"}
        What more than two classes mean; two classes are the binary model either way.
    sampler : str or Sampler
        "auto", "ssgld", "ssgnht", "sghmc", the exact "hmc", "lmc" and "gibbs", "srwm" (random walk
        with the austerity test), "anchor" (a Gaussian, no chain), or an object of
        :mod:`bayesmargin.samplers`.
    n_chains, n_draws : int
        Chains, and draws kept from each.
    random_state : int, Generator, RandomState or None
        Seed; equal seeds give equal draws whatever ``n_jobs``, on processors of one kind.
    n_jobs : int or None
        Threads, no more than there are chains; None: every core that this process may use, but one
        in a task that joblib runs beside others (a fold of ``GridSearchCV(n_jobs=2)``, say); -1:
        every core there as well.
    verbose : int
        1 shows progress.
    checkpoint : path-like, Checkpoint or None
        Folder to which the state of a fit is written every minute, or as a
        :class:`~bayesmargin.Checkpoint` says; a fit of the same data and settings goes on from it,
        bit by bit. Removed when the fit is complete.
    engine : {"auto", "numba", "jax"}
        What runs the chains. "jax" moves all of them as one array, on a GPU where JAX finds one
        (``pip install bayesmargin[jax]``); it knows dense rows, in memory or mapped from a file,
        and the samplers "auto", "ssgnht", "ssgld" and "hmc". "auto" takes it for large data on a
        GPU.
    class_weight : None, "balanced" or dict
        Factor of ``C`` for each class; "balanced" lets all classes count alike. Probabilities are
        then those of classes that are as frequent as they count.
    **more
        Settings inside objects by paths, such as ``sampler__step``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        Posterior means; with more than two classes, and of label sets, a row for each.
    label_sets_ : bool
        Whether rows have sets of labels; ``classes_`` are then their numbers.
    posterior_ : Posterior
        Draws ``coef`` and ``intercept``.
    C_, prior_scale_ : float
        The cost and the scale of the prior that were used.
    profile_ : Profile or None
        What candidates of ``C`` were worth, where it is "auto"; print it.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, temperature, bias; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesmargin import BayesianLinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BayesianLinearSVC(random_state=0).fit(StandardScaler().fit_transform(X), y)
    >>> model.posterior_["coef"].shape
    (4, 1000, 30)
    >>> model.diagnostics_.trustworthy
    True
    """

    short_forms: ClassVar[ShortForms] = {**LinearTraining.short_forms, "sampler": resolve_sampler}

    def __init__(
        self,
        C: float | str = 1.0,
        margin: float = 1.0,
        prior: str = "gaussian",
        prior_scale: float | str = 1.0,
        fit_intercept: bool = True,
        multi_class: str = "crammer_singer",
        sampler: Any = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        engine: str = "auto",
        class_weight: Any = None,
        **more: Any,
    ) -> None:
        self.C = C
        self.margin = margin
        self.prior = prior
        self.prior_scale = prior_scale
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.engine = engine
        self.class_weight = class_weight
        self._take(more)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X : array-like, sparse matrix, FileRows or Dask collection of shape (n_samples, n_features)
            Sparse matrices of many features are never made dense. Tensors of PyTorch and JAX are
            read where they are (by DLPack), those of a GPU copied. Files larger than memory are
            opened with :func:`bayesmargin.rows.open_rows`. A Dask array, a Dask data frame or a
            list of delayed ``(X, y)`` partitions is fitted where it lies, on the workers of the
            active client.
        y : array-like of shape (n_samples,), or indicator of shape (n_samples, n_labels)
            Class labels of any type; may be left out when ``X`` is a file that holds them. An
            indicator of zeros and ones names sets of labels: each label is told apart by a hinge of
            its own, on rows that are checked and joined once. ``predict``, ``predict_proba`` and
            ``decision_function`` then have a column a label.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies ``C`` row by row; a row of weight two counts as two rows.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together, say those of a patient: robust intervals
            (``posterior_.robust()``) take whole groups for independent. The posterior is the same.
            With a group for every row, weights are no counts but say how much a row matters.
        """
        check_linear_settings(self)
        with all_or_nothing(self):
            if is_collection(X):
                from bayesmargin.distributed.linear import fit_collection

                self.label_sets_ = False
                if self.class_weight is not None or groups is not None:
                    raise ValueError(
                        "class_weight and groups are not known for Dask collections: leave them "
                        "out, or pass the weights of rows as sample_weight"
                    )
                if isinstance(self.prior_scale, str):
                    raise ValueError(
                        "prior_scale='auto' is not known for Dask collections: pass a number, the "
                        "margin divided by the usual length of a row"
                    )
                if isinstance(self.C, str):
                    raise ValueError("C='auto' is not known for Dask collections: pass a number")
                self.prior_scale_, self.C_ = float(self.prior_scale), float(self.C)
                fit_collection(self, X, y, sample_weight)
                return self
            X, y = self._training_rows(X, y, reset=True)
            check_classification_targets(y)
            weight = check_sample_weight(sample_weight, X.shape[0])
            self.label_sets_ = y.ndim == 2
            if self._has_sets and (self.class_weight is not None or isinstance(self.C, str)):
                raise ValueError(
                    "class_weight and C='auto' are not known for label sets, whose labels have two "
                    "classes each: leave class_weight out, and pass a number for C"
                )
            every = bool(np.all(weight > 0.0))
            source = "y" if every else "y without the rows whose sample_weight is zero"
            present = np.arange(y.shape[1]) if self._has_sets else np.unique(y[weight > 0.0])
            self._set_classes(present, source)
            together = group_numbers(groups, X, X.shape[0])
            self._scale_prior(X, weight)
            priors = self._initial_priors(self.n_features_in_)
            return self._update(X, y, weight, priors, groups=together)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on from the current posterior with further rows.

        The posterior so far, summarised by its mean and covariance, is the prior of the new rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array-like, optional
            All classes that will ever occur; needed at the first call.
        """
        check_linear_settings(self)
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' is not known to partial_fit, which does not see all rows: "
                "pass the weights as a dictionary"
            )
        if self._has_sets or label_sets(y) is not None:
            raise ValueError(
                "partial_fit does not know label sets: fit all rows at once, or a model a label"
            )
        first = not hasattr(self, "posterior_")
        X, y = self._training_rows(X, y, reset=first)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X.shape[0])
        if first:
            if classes is None:
                raise ValueError(
                    "classes=None is not allowed at the first call of partial_fit: pass all "
                    "classes that will ever occur"
                )
            self._set_classes(np.unique(classes), "classes")
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(
                f"classes={np.unique(classes).tolist()!r} differ from those of the first call of "
                f"partial_fit, {self.classes_.tolist()!r}"
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds the labels {unknown.tolist()!r}, which are not among the classes "
                f"{self.classes_.tolist()!r}"
            )
        if first:
            self._scale_prior(X, weight)
            priors, before = self._initial_priors(self.n_features_in_), None
        else:
            blocks = range(len(self.classes_)) if self._one_vs_rest() else [slice(None)]
            priors = posterior_beliefs(*self._draws(), blocks, self.fit_intercept)
            before = Before(self.link_, earlier_rows(self.posterior_, priors))
        self._update(X, y, weight, priors, before=before)
        means = np.column_stack([self.coef_, self.intercept_])
        farthest = largest_contradiction(priors, means, self.fit_intercept)
        self.diagnostics_ = contradicted(self.diagnostics_, farthest)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; ``y`` may be left out when ``X`` is a file that holds the labels."""
        if is_collection(X):
            from bayesmargin.distributed.predicting import accuracy

            return accuracy(self, X, y, sample_weight)
        y = X.checked_labels(y) if isinstance(X, FileRows) else y
        return float(super().score(X, y, sample_weight))
