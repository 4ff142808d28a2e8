"""What a fitted linear model says of rows: scores, classes, probabilities, votes."""

from typing import Any

import numpy as np

from bayesmargin.calibration.leading import at_leader, leader_of, runner_up_of
from bayesmargin.distributed import is_collection
from bayesmargin.engines.choosing import worth_a_device
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.reading import LinearScores
from bayesmargin.models.linear.scores import draw_scores, rows_at_a_time
from bayesmargin.models.linear.spread import contrast_variance, score_variance
from bayesmargin.priors.moments import FULL_COVARIANCE
from bayesmargin.rows.files import FileRows

SPREAD_DRAWS = 200  # at most, that say how well a score is known when probabilities are asked for


class LinearPredictions(LinearScores):
    """Predictions of classes from the posterior of the weights.

    ``X`` is always a matrix, a sparse matrix, an opened file or a Dask collection of rows.
    """

    classes_: Any
    link_: Any
    """From scores to probabilities; of label sets ``LabelLinks``."""
    label_sets_: bool

    @property
    def _has_sets(self) -> bool:
        """Whether rows have sets of labels; models saved before there were any do not say."""
        return getattr(self, "label_sets_", False)

    def _n_blocks(self) -> int:
        return 1 if len(self.classes_) == 2 and not self._has_sets else len(self.classes_)

    def _require_one_label(self, what: str) -> None:
        if self._has_sets:
            raise ValueError(
                f"{what} is known where a row has one label: of label sets take predict, "
                "predict_proba or decision_function"
            )

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean of the scores, and with ``return_std`` their posterior sd.

        Of several classes the sd of a score counts what all classes share, too, of which nothing is
        learned (``multi_class="crammer_singer"``): :meth:`predict_lead` tells how sure one is.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
        std : array of the same shape, only with ``return_std=True``
        """
        if is_collection(X):
            return self._on_blocks("decision_function", X, return_std=return_std)
        return self._scored(X, return_std)

    def predict_lead(self, X: Any, return_std: bool = False) -> Any:
        """Lead of the predicted class: posterior mean of its score less that of the next class.

        With ``return_std`` also the posterior sd of the difference. Of two classes the lead is the
        size of the score.

        Returns
        -------
        lead : array of shape (n_samples,)
        std : array of the same shape, only with ``return_std=True``
        """
        if is_collection(X):
            return self._on_blocks("predict_lead", X, return_std=return_std)
        X = self._rows(X)
        self._require_one_label("predict_lead")
        rows = X.parts() if isinstance(X, FileRows) else [X]
        parts = [self._lead(part, return_std) for part in rows]
        joint = [np.concatenate(part) for part in zip(*parts, strict=True)]
        return tuple(joint) if return_std else joint[0]

    def _lead(self, X: Any, return_std: bool) -> tuple[FloatArray, ...]:
        (scores,) = self._decision(X, return_std=False)
        if scores.ndim == 1:
            lead = np.abs(scores)
            return (lead, self._score_sd(X)) if return_std else (lead,)
        leader = leader_of(scores)
        second = runner_up_of(scores, leader)
        lead = (at_leader(scores, leader) - at_leader(scores, second))[:, 0]
        if not return_std:
            return (lead,)
        variance = contrast_variance(X, *self._draws(), leader)
        return lead, np.sqrt(at_leader(variance, second)[:, 0])

    def predict(self, X: Any) -> Any:
        """Class with the largest posterior mean score; of label sets those with one above zero."""
        if is_collection(X):
            return self._on_blocks("predict", X)
        scores = self._scored(X, return_std=False)
        if self._has_sets:
            return (scores > 0).astype(np.int64)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probabilities of the classes, calibrated on the training rows.

        The less well a row's score is known, the more cautious they are. The most probable class
        is the one that :meth:`predict` gives, on every row.
        """
        if is_collection(X):
            return self._on_blocks("predict_proba", X)
        X = self._rows(X)
        if isinstance(X, FileRows):
            return np.concatenate([self._probabilities(part) for part in X.parts()])
        return self._probabilities(X)

    def _probabilities(self, X: Any) -> FloatArray:
        (scores,) = self._decision(X, return_std=False)
        return self.link_.probabilities(scores, self._doubt(X, scores))

    def _doubt(self, X: Any, scores: FloatArray) -> FloatArray:
        """Variances as the link takes them: of scores, or of differences to that of the leader."""
        coef, intercept = self._draws()
        some = slice(None, None, -(-len(coef) // SPREAD_DRAWS))
        draws = coef[some], intercept[some]
        if self._has_sets:
            return score_variance(X, *draws)
        if scores.ndim == 1:
            return score_variance(X, *draws)[:, 0]
        return contrast_variance(X, *draws, leader_of(scores))

    def predict_votes(self, X: Any) -> FloatArray:
        """Share of posterior draws that vote for each class: the Gibbs classifier's own law."""
        if is_collection(X):
            return self._on_blocks("predict_votes", X)
        X = self._rows(X)
        if isinstance(X, FileRows):
            return np.concatenate([self._votes(part) for part in X.parts()])
        return self._votes(X)

    def _votes(self, X: Any) -> FloatArray:
        coef, intercept = self._draws()
        if worth_a_device(X, coef):
            from bayesmargin.engines.predicting import shares_of_votes

            alone = coef.shape[1] == 1
            share = shares_of_votes(X, coef, intercept, self._has_sets or alone).astype(float)
            both = alone and not self._has_sets
            return np.concatenate([1.0 - share, share], axis=1) if both else share
        votes = np.zeros((X.shape[0], len(self.classes_)))
        step = rows_at_a_time(len(coef) * coef.shape[1], coef.shape[2] > FULL_COVARIANCE)
        for start in range(0, X.shape[0], step):
            scores = draw_scores(X[start : start + step], coef, intercept)
            if self._has_sets:
                votes[start : start + step] = (scores > 0).mean(axis=0)
                continue
            chosen: IntArray = (
                (scores[..., 0] > 0).astype(int) if scores.shape[2] == 1 else scores.argmax(axis=2)
            )
            for k in range(len(self.classes_)):
                votes[start : start + step, k] = (chosen == k).mean(axis=0)
        return votes
