"""What a fitted model says about new documents: proportions, scores, labels, probabilities."""

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesmargin.distributed import is_collection
from bayesmargin.models.medlda.crew import count_threads
from bayesmargin.models.medlda.documents import check_counts, refuse_text, to_documents
from bayesmargin.models.medlda.link import ScoreLink
from bayesmargin.models.medlda.training import Training
from bayesmargin.types import FloatArray


class AnswersMixin(TransformerMixin):
    """Methods of the classifier that take documents without labels."""

    n_jobs: int | None
    _training: Training
    _link: ScoreLink

    def _counts(self, X: Any) -> Any:
        """Checked word counts of new documents."""
        check_is_fitted(self)
        name = type(self).__name__
        refuse_text(X, name)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return check_counts(X, name)

    def _infer(self, X: Any, draws: int | None = None) -> tuple[FloatArray, FloatArray]:
        if draws is not None and draws < 1:
            raise ValueError(f"draws={draws} is not allowed: it is an integer of at least 1")
        documents = to_documents(self._counts(X))
        self._training.n_threads = count_threads(self.n_jobs)
        return self._training.infer(documents, draws)

    def transform(self, X: Any) -> FloatArray:
        """Topic proportions of documents (n, K): posterior means, rows sum to 1."""
        return self._infer(X)[0]

    def decision_function(self, X: Any, draws: int | None = None) -> FloatArray:
        """Posterior means of the scores, topics integrated out.

        With ``draws`` they are averaged over that many last draws of topics and weights in every
        chain.

        Returns
        -------
        scores : ndarray of shape (n,) for two classes, else (n, L)
        """
        scores = self._infer(X, draws)[1]
        return scores[:, 0] if scores.shape[1] == 1 and not self._training.code.several else scores

    def predict(self, X: Any, draws: int | None = None) -> np.ndarray:
        """Labels by the mean scores, see :meth:`decision_function`.

        ``draws=1`` takes the last draw of each chain; with ``n_chains=1`` that is the rule of the
        paper.
        """
        if is_collection(X):
            from bayesmargin.distributed.predicting import on_blocks

            return on_blocks(self, "predict", X)
        scores = self._infer(X, draws)[1]
        return self._training.code.decide(scores, self._link.cut)

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities (n, L), calibrated on documents held out from training.

        For label sets each column is the probability of its own label.
        """
        scores = self._infer(X)[1]
        return self._link.probabilities(scores, self._training.code.several)

    @property
    def link_(self) -> ScoreLink:
        """Slope of the probabilities and thresholds of label sets."""
        check_is_fitted(self)
        return self._link
