"""How far a linear model's own doubt reaches: draws of probabilities, rows left out, new rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.calibration.leading import at_leader, leader_of
from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import class_numbers
from bayesmargin.models.linear.predictions import LinearPredictions
from bayesmargin.models.linear.scores import draw_scores
from bayesmargin.models.linear.spread import contrast_variance, score_variance
from bayesmargin.rows.files import FileRows

UNUSUAL = 0.95  # share of the training rows whose scores are known better than at novelty one


class LinearDoubt(LinearPredictions):
    """What of a prediction is the model's own doubt."""

    left_out_: LeftOutForecasts | None

    @property
    def leave_one_out_proba_(self) -> FloatArray:
        """Probabilities of the training rows, each forecast by the others, in their order.

        Kept for up to 20,000 rows in memory. A row of weight zero has NaN.
        """
        check_is_fitted(self)
        left_out = getattr(self, "left_out_", None)
        found = None if left_out is None else left_out.in_order
        if found is None:
            raise AttributeError(
                "leave_one_out_proba_ is kept for fits of at most 20,000 rows in memory: fit on "
                "fewer, or set rows aside"
            )
        return np.asarray(found)

    def sample_proba(self, X: Any, n: int = 100, random_state: Any = None) -> FloatArray:
        """Draws of the probabilities: how they would be if the weights were known.

        They differ where the weights are not known well enough, and their mean is close to
        :meth:`predict_proba`. What they have in common is doubt that no further rows would remove.
        Draws of the posterior differ from its mean as much as the link counts their doubt.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n : int
            Draws.
        random_state : int, Generator, RandomState or None
            Which draws of the posterior are taken.

        Returns
        -------
        array of shape (n, n_samples, n_classes)

        Examples
        --------
        How much would each label teach? Its mutual information with the weights (BALD):

        >>> from scipy.stats import entropy
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import scale
        >>> from bayesmargin import BayesianLinearSVC
        >>> X, y = load_wine(return_X_y=True)
        >>> X = scale(X)
        >>> model = BayesianLinearSVC(n_draws=300, random_state=0).fit(X[::9], y[::9])
        >>> draws = model.sample_proba(X, 50, random_state=0)
        >>> draws.shape
        (50, 178, 3)
        >>> gain = entropy(draws.mean(axis=0), axis=1) - entropy(draws, axis=2).mean(axis=0)
        >>> bool((gain > -1e-9).all())
        True
        """
        require_count("n", n, 1)
        (rng,) = spawn_generators(random_state, 1)
        count = self.posterior_.n_chains * self.posterior_.n_draws
        return self._drawn_probabilities(X, rng.choice(count, n, replace=n > count))

    def _drawn_probabilities(self, X: Any, chosen: IntArray) -> FloatArray:
        """Probabilities (draw, row, class) under some draws, chains one after another."""
        X = self._rows(X)
        if isinstance(X, FileRows):
            raise ValueError(
                "draws of probabilities are made for rows in memory: pass one part of the file "
                "at a time"
            )
        coef, intercept = self._draws()
        (mean,) = self._decision(X, return_std=False)
        doubt = self._doubt(X, mean)
        counts = np.sqrt(self.link_.counted(doubt) / np.where(doubt > 0.0, doubt, 1.0))
        joint = mean.ndim == 2 and not self._has_sets
        mean = mean[:, None] if mean.ndim == 1 else mean
        away = draw_scores(X, coef[chosen], intercept[chosen]) - mean
        if joint:  # what is doubted are differences to the leading class
            away = away - at_leader(away, leader_of(mean))
        scores = mean + counts.reshape(mean.shape) * away
        known = np.zeros(mean.shape)
        if mean.shape[1] == 1:
            parts = [self.link_.probabilities(one[:, 0], known[:, 0]) for one in scores]
        else:
            parts = [self.link_.probabilities(one, known) for one in scores]
        return np.stack(parts)

    def to_arviz(self, X: Any, y: Any = None, n: int = 100, random_state: Any = None) -> Any:
        """The posterior as ArviZ wants it, with labels that it predicts for rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Their labels, for the group ``observed_data``.
        n : int
            Draws of each chain, evenly apart, that predict labels.
        random_state : int, Generator, RandomState or None
            Of the labels.

        Returns
        -------
        xarray.DataTree or arviz.InferenceData
            As ``posterior_.to_arviz()``, and ``y`` in the group ``posterior_predictive``: numbers
            of classes in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import scale
        >>> from bayesmargin import BayesianLinearSVC
        >>> X, y = load_wine(return_X_y=True)
        >>> model = BayesianLinearSVC(n_draws=300, random_state=0).fit(scale(X), y)
        >>> model.to_arviz(scale(X), y, n=50).posterior_predictive["y"].shape
        (4, 50, 178)
        """
        check_is_fitted(self)
        self._require_one_label("to_arviz with rows")
        require_count("n", n, 1)
        chains, draws = self.posterior_.n_chains, self.posterior_.n_draws
        some = np.linspace(0, draws - 1, min(n, draws)).astype(int)
        chosen = (draws * np.arange(chains)[:, None] + some).ravel()
        chances = np.cumsum(self._drawn_probabilities(X, chosen), axis=2)[..., :-1]
        (rng,) = spawn_generators(random_state, 1)
        drawn = (rng.random((*chances.shape[:2], 1)) > chances).sum(axis=2)
        groups = {"posterior_predictive": {"y": drawn.reshape(chains, len(some), -1)}}
        if y is not None:
            groups["observed_data"] = {"y": class_numbers(y, self.classes_)}
        return self.posterior_.to_arviz(groups)

    def novelty(self, X: Any) -> FloatArray:
        """How unlike the training rows each row is, by how badly its score is known.

        The posterior standard deviation of the score over that which 95% of the training rows stay
        below: at values well above one the model has not learned what it is asked. Of several
        classes it is that of the lead over the class for which it is the largest.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from bayesmargin import BayesianLinearSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X = scale(X)
        >>> model = BayesianLinearSVC(n_draws=300, random_state=0).fit(X, y)
        >>> bool((model.novelty(X) > 1.0).mean() < 0.06), bool((model.novelty(9.0 * X) > 1.0).all())
        (True, True)
        """
        X = self._rows(X)
        left_out = getattr(self, "left_out_", None)
        if left_out is None:
            raise ValueError(
                "there is nothing to compare with: this model was fitted on a cluster, or saved "
                "before the library kept what it says of its training rows; fit it again"
            )
        usual = np.quantile(left_out.spread, UNUSUAL)
        rows = X.parts() if isinstance(X, FileRows) else [X]
        return np.concatenate([self._spread(part) for part in rows]) / max(usual, 1e-300)

    def _spread(self, X: Any) -> FloatArray:
        (scores,) = self._decision(X, return_std=False)
        if scores.ndim == 1 or self._has_sets:
            return np.sqrt(score_variance(X, *self._draws()).max(axis=1))
        variance = contrast_variance(X, *self._draws(), leader_of(scores))
        return np.asarray(np.sqrt(variance.max(axis=1)))
