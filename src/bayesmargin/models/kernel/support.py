r"""Which training rows hold the border, and what they pull.

A row pulls its score by its cost where its hinge bends, that is, where its slack is positive, and
not at all beyond its margin. Under the posterior the mean of all scores is made of these pulls
alone (of two classes, :math:`\bar f(x) = \sigma^2 \sum_d y_d\, p_d\, k(x_d, x)`), with

.. math:: p_d = C\, P(\zeta_d > 0 \mid \text{data}),

what ``dual_coef_`` is to the one solution of ``SVC``. Rows that are surely within their margin pull
with all of their cost, rows surely beyond it are not needed, and those between lie at their kinks.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmargin.foundation.arguments import require_share
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.scores import draw_scores, rows_at_a_time

DRAWS = 400  # at least, that say how often a hinge bends; more where they are quick:
PRODUCTS = 2e9  # of a number of a row and one of a draw
MOST_ROWS = 20_000  # whose pulls are kept


def active_shares(
    data: LinearData, coef: FloatArray, intercept: FloatArray, margin: float, separate: bool
) -> FloatArray:
    """Share of draws in which the hinge of each row bends; of several hinges, any of them."""
    wanted = max(DRAWS, int(PRODUCTS / (len(data.label) * coef[0].size)))
    some = slice(None, None, -(-len(coef) // wanted))
    coef, intercept = coef[some], intercept[some]
    found = np.empty(len(data.label))
    step = rows_at_a_time(len(coef) * coef.shape[1], False)
    for first in range(0, len(found), step):
        rows = slice(first, first + step)
        scores = draw_scores(data.values[rows], coef, intercept)
        own = np.arange(data.n_classes) == data.label[rows, None]
        if data.n_classes == 2:
            slack = margin - np.where(own[:, 1], 1.0, -1.0) * scores[..., 0]
        elif separate:
            slack = (margin - np.where(own, 1.0, -1.0) * scores).max(axis=2)
        else:
            rival = np.where(own, -np.inf, scores).max(axis=2)
            slack = margin + rival - scores[:, own]
        found[rows] = (slack > 0.0).mean(axis=0)
    return found


class SupportMixin:
    """Models that tell which training rows hold their border."""

    active_: FloatArray
    pulls_: FloatArray

    def support(self, least: float = 0.05) -> Any:
        """Training rows that pull, the strongest first, as a pandas data frame.

        Parameters
        ----------
        least : float
            Probability that a row's hinge bends, from which on it is shown.

        Returns
        -------
        pandas.DataFrame
            By number of the row: ``pull``, in units of ``C`` times the row's weight what it adds to
            the score of its class; ``active``, the probability that it pulls; ``at_kink``, whether
            that is neither sure nor as good as impossible.

        Examples
        --------
        >>> from bayesmargin import BayesianSVC
        >>> X = [[-2.0], [-1.2], [-0.1], [0.1], [1.2], [2.0]]
        >>> settings = {"C": 2.0, "gamma": 1.0, "n_components": 6}
        >>> model = BayesianSVC(**settings, n_draws=200, random_state=0)
        >>> sorted(model.fit(X, [0, 0, 0, 1, 1, 1]).support().index[:2])
        [2, 3]
        """
        import pandas

        check_is_fitted(self)
        require_share("least", least)
        if not hasattr(self, "pulls_"):
            raise AttributeError(f"pulls are kept for fits of at most {MOST_ROWS} rows: fit fewer")
        index = np.flatnonzero(self.active_ >= least)
        index = index[np.argsort(-self.pulls_[index], kind="stable")]
        active = self.active_[index]
        columns: dict[str, Any] = {"pull": self.pulls_[index], "active": active}
        columns["at_kink"] = (active < 1.0 - least) & (active >= least)
        return pandas.DataFrame(columns, index=pandas.Index(index, name="row"))
