"""Methods of the classifier that learn: from all documents at once, or as they come."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from bayesmargin.calibration.slopes import ScoreLink
from bayesmargin.distributed import is_collection
from bayesmargin.foundation.threads import N_SHARES, n_threads
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.medlda.labels import LabelCode, learn_code
from bayesmargin.models.medlda.parameters import Plan, check_parameters, resolve, stream_size
from bayesmargin.models.medlda.posterior import stack_coef
from bayesmargin.models.medlda.reading import read_training
from bayesmargin.models.medlda.samplers import name_of, sampler_of
from bayesmargin.models.medlda.training import Training
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.running.interrupts import warn_of_interrupt


class FittingMixin(SavedMixin):
    """Ways to fit; each ends with what the other methods of the classifier read."""

    n_jobs: int | None
    sampler: Any
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample topics and weights from documents and labels.

        Ctrl-C in the second half of the chains ("pa": at any time) keeps the draws made so far
        (:class:`~bayesmargin.errors.InterruptedWarning`); earlier, or with a checkpoint to go on
        from, it ends the fit.

        Parameters
        ----------
        X : sparse matrix, array or Dask collection of shape (documents, vocabulary)
            Word counts. Documents of a Dask collection stay on the workers.
        y : array of labels, or 0/1 indicator matrix of shape (documents, L)
        """
        plan = check_parameters(self)
        with all_or_nothing(self) as is_whole:
            if is_collection(X):
                from bayesmargin.distributed.medlda import fit_documents

                self._finish(fit_documents(self, X, y))
                is_whole()
                return self._learn_link()
            documents, y = read_training(self, X, y)
            with self._checkpointing(documents, y) as checkpoint:
                code = learn_code(y)
                signs = code.signs(y, all_of_them=True)
                training = self._begin(plan, code, len(signs), checkpoint.random_state, signs)
                try:
                    training.run(plan, documents, signs, checkpoint)
                finally:
                    training.close()
                self._finish(training)
                is_whole()
                return self._learn_link()

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Go on with further documents: one pass over them in minibatches, in random order.

        Fewer than a minibatch make a shorter step, and documents that are all empty change nothing,
        unless they are the first. Ctrl-C is heeded after the minibatch under way, so that the model
        holds what it has learned until then.

        Parameters
        ----------
        classes : array, needed in the first call unless ``y`` is an indicator matrix
            Every label that may ever come.
        """
        plan = check_parameters(self)
        if plan.method == "gibbs":
            raise ValueError(
                "sampler='gibbs' samples all documents together and has no partial_fit: use fit, "
                "or sampler='ssgrld' or 'pa'"
            )
        if is_collection(X):
            from bayesmargin.distributed.medlda import partition_pairs

            return self.fit_stream(partition_pairs(X, y), classes)
        first = not hasattr(self, "_training")
        documents, y = read_training(self, X, y, reset=first)
        if first:
            if classes is None and np.ndim(y) == 1:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            size = stream_size(plan, documents.n_documents)
            training = self._begin(plan, learn_code(y, classes), size, self.random_state)
        else:
            training = self._training
            training.n_threads = n_threads(self.n_jobs, N_SHARES)
            _require_same_model(self, self.posterior_[0].n_topics, classes)
        signs = training.code.signs(y)
        if len(documents.words) == 0:  # nothing is learned from empty documents
            return self
        try:
            complete = training.take_in(plan, documents, signs)
        finally:
            training.close()
        self._finish(training)
        if not complete:
            raise KeyboardInterrupt
        return self

    def fit_stream(self, batches: Iterable[tuple[Any, Any]], classes: Any = None) -> Self:
        """Learn from an iterator of ``(X, y)`` pairs, each passed to :meth:`partial_fit`."""
        number = 0
        for number, pair in enumerate(batches, 1):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ValueError(
                    f"part {number} of batches is a {type(pair).__name__} and not a pair (X, y)"
                )
            self.partial_fit(*pair, classes)
        if number == 0 and not hasattr(self, "_training"):
            raise ValueError(
                "batches held no part: an iterator that was read before is empty, make it anew"
            )
        return self

    def _begin(
        self, plan: Plan, code: LabelCode, size: int, random_state: Any, signs: Any = None
    ) -> Training:
        resolved = resolve(plan, code.n_classifiers, size, signs)
        threads = n_threads(self.n_jobs, N_SHARES)
        return Training(plan, resolved, code, self.n_features_in_, threads, random_state)

    def _finish(self, training: Training) -> None:
        """Show what was learned; probabilities are learned when they are asked for."""
        self._training = training
        self.classes_ = training.code.classes
        self.posterior_ = [learner.posterior for learner in training.learners]
        self._first = self.posterior_[: len(training.columns)]
        self.coef_ = stack_coef(self._first)
        self._n_features_out = sum(posterior.n_topics for posterior in self._first)
        self._link: ScoreLink | None = None

    def _learn_link(self) -> Self:
        """Learn probabilities at once, after a fit; should Ctrl-C come, it is done later."""
        if self.posterior_[0].interrupted:
            unit = "sweeps" if name_of(sampler_of(self.sampler)) == "gibbs" else "minibatches"
            done, planned = self.posterior_[0].length, self.posterior_[0].planned
            assert done is not None
            assert planned is not None
            warn_of_interrupt(done, planned, unit, depth=2)
        else:
            self._link = self._training.link()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit was completed: one that failed leaves the number of columns behind."""
        return hasattr(self, "_training")


def _require_same_model(model: Any, n_topics: int, classes: Any) -> None:
    """Refuse to go on with other classes, or another number of topics, than a model began with."""
    if classes is not None and not np.array_equal(np.unique(classes), model.classes_):
        raise ValueError(
            f"classes={np.unique(classes).tolist()!r} differ from those of the first call, "
            f"{model.classes_.tolist()!r}"
        )
    if model.n_topics != n_topics:
        raise ValueError(
            f"n_topics={model.n_topics} is not allowed here: this model has learned {n_topics} "
            "topics, and partial_fit goes on with them; set n_topics back, or begin a new model"
        )
