r"""Whether rows left out of draws are forecast as refits without them would forecast them.

With a large cost a few rows hold the border like a wall. The score of such a row hardly varies from
draw to draw, and no weighting of the draws tells that without the row the border would be
elsewhere: rows left out look better predicted than new ones are. So with costs beyond one over the
margin the rows are forecast by Gaussian fits to four fifths of them. Where the probabilities of the
draws do worse on those than they promised, by more than chance, the link follows the refits.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.calibration.maps import STEEPEST, Link
from bayesmargin.models.linear.calibrating import linked
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import CERTAIN, folds_of, gaussian_fits
from bayesmargin.rows.files import FileRows

ROWS = 1000  # at most, of which refits are made: of more rows few matter alone
COLUMNS = 300  # directions in which rows are told apart
FOLDS = 5
DOUBT = 2.0  # standard errors by which refits may do worse


def with_refits(
    told: tuple[Link, LeftOutForecasts],
    data: LinearData,
    settings: Any,
    scale: float,
    rng: np.random.Generator,
) -> tuple[Link, LeftOutForecasts]:
    """Link and forecasts of the draws, or those of refits where the draws promise too much.

    Parameters
    ----------
    told : Link and LeftOutForecasts
        What the draws say of the rows.
    data : LinearData
        Of two classes, or of several that are one against the rest.
    scale : float
        Deviation of the prior of a weight.
    """
    link, forecasts = told
    steep = settings.C * settings.margin > STEEPEST
    joint = data.n_classes > 2 and settings.multi_class == "crammer_singer"
    few = len(data.weight) <= ROWS and len(forecasts.label) == len(data.weight)
    plain = isinstance(settings.prior, str) and data.groups is None
    if not (steep and few and plain) or joint or isinstance(data.values, FileRows):
        return told
    fold = folds_of(data.label, FOLDS, rng)
    if min(len(np.unique(data.label[fold != k])) for k in range(FOLDS)) < data.n_classes:
        return told
    rows = spanned(data, scale)
    fits = gaussian_fits(rows, settings.C, settings.margin, scale, bool(settings.fit_intercept))
    scores = fits.held_out(fold)
    own = np.arange(len(data.label)), data.label
    promised = -np.log(np.maximum(forecasts.probability[own], CERTAIN))
    lost = fits.losses(scores, link) - promised
    share = data.weight / data.weight.sum()
    mean = float(share @ lost)
    error = np.sqrt(float(share @ np.square(lost - mean)) / len(lost))
    return told if mean <= DOUBT * error else linked(rows, *scores, settings)


def spanned(data: LinearData, scale: float) -> LinearData:
    """Rows in the main directions of their span; what these leave out of their scores is unseen."""
    values = data.values
    if values.shape[1] <= COLUMNS:
        dense = values.toarray() if sparse.issparse(values) else values
        return replace(data, values=np.asarray(dense, dtype=float))
    gram = values @ values.T
    gram = np.asarray(gram.toarray() if sparse.issparse(gram) else gram, dtype=float)
    square, vectors = linalg.eigh(gram)
    kept = slice(max(0, len(square) - COLUMNS), None)
    inside = vectors[:, kept] * np.sqrt(np.maximum(square[kept], 0.0))
    rest = np.maximum(np.diag(gram) - np.square(inside).sum(axis=1), 0.0)
    return replace(data, values=np.ascontiguousarray(inside), unseen=scale**2 * rest)
