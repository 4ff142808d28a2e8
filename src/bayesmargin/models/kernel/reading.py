"""Rows as a fitted kernel model reads them: features, and what landmarks leave out of a score."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesmargin.calibration.leading import leader_of, variance_to_leader
from bayesmargin.calibration.maps import BinaryLink
from bayesmargin.distributed import is_collection
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.checks import require_numbers
from bayesmargin.models.kernel.fourier import FourierMap
from bayesmargin.models.kernel.kernels import Precomputed, kernel_of
from bayesmargin.models.kernel.landmarks import FeatureMap
from bayesmargin.models.linear.doubting import LinearDoubt
from bayesmargin.models.linear.predictions import SPREAD_DRAWS
from bayesmargin.models.linear.scores import mean_scores
from bayesmargin.models.linear.spread import contrast_variance, score_variance
from bayesmargin.models.magnitude import LARGEST_LINEAR, require_size
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.mapped import MappedRows
from bayesmargin.rows.matching import matched_rows


def dense_rows(values: Any) -> FloatArray:
    """Rows of a file or a shard as kernels read them."""
    values = values.toarray() if sparse.issparse(values) else values
    values = np.ascontiguousarray(values, dtype=np.float64)
    require_size(values, LARGEST_LINEAR, None)
    return values


class KernelReading(LinearDoubt):
    r"""Scores of rows under the posterior of a kernel model.

    A row becomes its features, the root of the variance that is left out of its score, and its
    news: the score is :math:`w \cdot \varphi + b + \sqrt{r}\,\epsilon + u\,\delta` with a
    :math:`\epsilon` of the prior. So it is linear in draws of one vector, like any other.
    """

    kernel: Any
    map_: FeatureMap | FourierMap
    prior_scale_: float
    resting_: FloatArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _kernel_rows(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Checked rows, and labels if there are any."""
        require_numbers(X)
        found = validate_data(self, X, y, dtype=np.float64, order="C", reset=reset)
        rows = found[0] if isinstance(found, tuple) else found
        if not isinstance(kernel_of(self.kernel), Precomputed):
            require_size(rows, LARGEST_LINEAR, getattr(self, "feature_names_in_", None))
        return found

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, FileRows):
            own, width = matched_rows(X, self, reset=False), self.map_.n_features + 2
            return MappedRows(own, lambda rows: self._described(dense_rows(rows)), width)
        return self._described(self._kernel_rows(X))

    def _described(self, rows: FloatArray) -> FloatArray:
        features, rest, news = self.map_.features(rows)
        return np.column_stack([features, np.sqrt(rest), news])

    def _draws(self) -> tuple[FloatArray, FloatArray]:
        coef, intercept = super()._draws()
        count, blocks, _ = coef.shape
        unseen = self.posterior_.flat("unseen").reshape(count, blocks, 1)
        resting = np.broadcast_to(self.resting_[:, None], (count, blocks, 1))
        return np.concatenate([coef, unseen, resting], axis=2), intercept

    def _decision(self, X: Any, return_std: bool) -> tuple[FloatArray, ...]:
        scores = mean_scores(X[:, :-2], np.atleast_2d(self.coef_), self.intercept_)
        scores += X[:, -1:] * self.resting_
        scores = scores[:, 0] if self._n_blocks() == 1 else scores
        return (scores, self._score_sd(X)) if return_std else (scores,)

    def _doubt(self, X: Any, scores: FloatArray) -> FloatArray:
        coef, intercept = super()._draws()
        seen, rest = X[:, :-2], np.square(self.prior_scale_ * X[:, -2])
        if scores.ndim == 1:
            return np.asarray(score_variance(seen, coef, intercept)[:, 0] + rest)
        some = slice(None, None, -(-len(coef) // SPREAD_DRAWS))
        leader = leader_of(scores)
        known = contrast_variance(seen, coef[some], intercept[some], leader)
        own = np.broadcast_to(rest[:, None], known.shape)
        return known + variance_to_leader(own, leader)

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Scores, and with ``return_std`` their posterior sd.

        Of two classes a score is the one that would have the row's log odds if it were known: the
        posterior mean, drawn towards zero the less it is known. So rows rank as by
        :meth:`predict_proba`. Of more classes scores are posterior means.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
        std : array of the same shape, only with ``return_std=True``
        """
        if is_collection(X):
            return super().decision_function(X, return_std)
        X = self._rows(X)
        rows = X.parts() if isinstance(X, FileRows) else [X]
        parts = [self._ranking(part, return_std) for part in rows]
        joint = [np.concatenate(part) for part in zip(*parts, strict=True)]
        return tuple(joint) if return_std else joint[0]

    def _ranking(self, X: FloatArray, return_std: bool) -> tuple[FloatArray, ...]:
        (scores,) = self._decision(X, return_std=False)
        if isinstance(self.link_, BinaryLink):
            odds = self.link_.log_odds(scores, self._doubt(X, scores))
            scores = self.link_.known_score(odds)
        return (scores, self._score_sd(X)) if return_std else (scores,)
