"""What a fitted model says about new documents: proportions, scores, labels, probabilities."""

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.slopes import ScoreLink
from bayesmargin.distributed import is_collection
from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.threads import N_SHARES, n_threads
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.documents import to_documents
from bayesmargin.models.medlda.reading import read_counts
from bayesmargin.models.medlda.training import Training


class AnswersMixin(TransformerMixin):
    """Methods of the classifier that take documents without labels."""

    n_jobs: int | None
    _training: Training
    _n_features_out: int
    _link: ScoreLink | None

    def _counts(self, X: Any) -> Any:
        """Checked word counts of new documents."""
        check_is_fitted(self)
        return read_counts(self, X)

    def _ready(self, draws: int | None = None) -> Training:
        """The training, with as many threads as are asked for now, and so many draws at least."""
        self._require_draws(draws)
        self._training.n_threads = n_threads(self.n_jobs, N_SHARES)
        return self._training

    def _read(self, X: Any, draws: int | None = None) -> tuple[FloatArray, IntArray]:
        """Scores of the words (n, L), and how many words there are that training has met."""
        documents = to_documents(self._counts(X))
        training = self._ready(draws)
        return training.scores(documents, draws), training.known_lengths(documents)

    def _scores(self, X: Any, draws: int | None = None) -> FloatArray:
        """Scores that labels rest on (n, L); those of draws are what the draws say."""
        scores, lengths = self._read(X, draws)
        several = self._training.code.several
        return scores if draws is not None else self.link_.rest(scores, lengths, several)

    def _require_draws(self, draws: int | None) -> None:
        """Refuse to average over more draws than every chain has kept."""
        check_is_fitted(self)
        if draws is None:
            return
        require_count("draws", draws, 1)
        kept = min(len(learner.posterior.topics) for learner in self._training.learners)
        if draws > kept:
            raise ValueError(
                f"draws={draws} is not allowed: each chain has kept {kept} draws, so it is at most "
                f"{kept}; begin anew with a larger n_draws to keep more, and with n_passes (or "
                "documents of a stream) enough"
            )

    def transform(self, X: Any) -> FloatArray:
        """Topic proportions of documents (n, K): posterior means, rows sum to 1."""
        if is_collection(X):
            return self._on_blocks("transform", X)
        return self._ready().infer(to_documents(self._counts(X)), None)[0]

    def decision_function(self, X: Any, draws: int | None = None) -> FloatArray:
        """Posterior means of the scores, topics integrated out.

        Of two classes the second is predicted where they are positive. Those of short documents lie
        between what their words say and the scores of the classes' shares in training, which a
        document without words has.

        With ``draws`` they are averaged over that many last draws of topics and weights in every
        chain; no more than the ``n_draws`` that are kept.

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, else (n, L)
        """
        if is_collection(X):
            return self._on_blocks("decision_function", X, draws=draws)
        scores = self._scores(X, draws)
        return scores[:, 0] if scores.shape[1] == 1 and not self._training.code.several else scores

    def predict(self, X: Any, draws: int | None = None) -> np.ndarray:
        """Labels by the mean scores, see :meth:`decision_function`.

        Label sets are the labels whose scores exceed thresholds, ``link_.cut``, that have the
        largest F1 on held-out documents, and the one nearest to its threshold where there is none.

        ``draws=1`` takes the last draw of each chain; with ``n_chains=1`` that is the rule of the
        paper.
        """
        if is_collection(X):
            return self._on_blocks("predict", X, draws=draws)
        scores = self._scores(X, draws)
        return self._training.code.decide(scores, self.link_.cut)

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities (n, L), calibrated on documents held out from training.

        For label sets each column is the probability of its own label. A label may be predicted
        although it is less likely than not: :meth:`predict` serves F1, which wants rare labels to
        be named before they are likely. ``predict_proba(X) > 0.5`` are the labels that are.
        """
        if is_collection(X):
            return self._on_blocks("predict_proba", X)
        return self.link_.answer(*self._read(X), self._training.code.several)

    def _on_blocks(self, method: str, X: Any, **options: Any) -> Any:
        """A lazy Dask array of answers, block by block."""
        from bayesmargin.distributed.predicting import on_blocks

        self._require_draws(options.get("draws"))
        _ = self.link_  # learned once, and not for every block
        code, kind = self._training.code, np.dtype(float)
        columns: int | None = len(code.classes)
        if method == "transform":
            columns = self._n_features_out
        elif method == "predict":
            columns = columns if code.several else None
            kind = np.dtype(np.int64) if code.several else code.classes.dtype
        elif method == "decision_function" and code.n_classifiers == 1 and not code.several:
            columns = None
        return on_blocks(self, method, X, (columns, kind), **options)

    @property
    def link_(self) -> ScoreLink:
        """Slope of the probabilities, thresholds and odds of label sets, scores of short documents.

        After ``partial_fit`` it is learned when first asked for: a stream of small parts would
        spend most of its time on it.
        """
        check_is_fitted(self)
        if self._link is None:
            self._training.n_threads = n_threads(self.n_jobs, N_SHARES)
            self._link = self._training.link()
        return self._link
