"""Fits of the kernel model to rows of files: some rows choose the features, all rows teach.

Settings and features are found with at most 20,000 rows chosen at random, and these calibrate the
probabilities. All rows become features a piece at a time, in every pass over the file, and the
posterior of the features' weights is sampled as that of a linear model with rows in files.
"""

from typing import Any

import numpy as np

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.errors import DataError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.kernel.kernels import Precomputed, kernel_of
from bayesmargin.models.kernel.reading import dense_rows
from bayesmargin.models.kernel.settings import check_kernel_settings
from bayesmargin.models.linear.calibrating import calibrate
from bayesmargin.models.linear.fitting import LinearData, emphasised, sample_linear
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.mapped import MappedRows
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for


def require_columns(kernel: Any) -> None:
    """Refuse kernels that are no function of columns."""
    if isinstance(kernel_of(kernel), Precomputed):
        raise DataError(
            "kernel='precomputed' wants a square matrix in memory: rows of files and clusters have "
            "columns, of which a kernel such as 'rbf' is computed"
        )


def fit_pieces(model: Any, X: FileRows, y: Any, weight: FloatArray) -> None:
    """Fit a :class:`BayesianSVC` to rows of a file whose labels are checked."""
    require_columns(model.kernel)
    sampler = check_kernel_settings(model)
    last = len(model.classes_) - 1  # rows of weight zero may have a class that does not count
    label = np.minimum(np.searchsorted(model.classes_, y), last)
    label = label.astype(np.min_scalar_type(len(model.classes_)))
    every = emphasised(
        LinearData(X, label, weight, len(model.classes_)), model.class_weight, model.classes_
    )
    with model._checkpointing(X, label, weight) as checkpoint:
        generators = spawn_generators(checkpoint.random_state, model.n_chains + 1)
        index, values = X.sample(MAX_ROWS, generators[-1])
        X.kept = None
        there = weight[index] > 0.0
        index, values = index[there], dense_rows(values[np.flatnonzero(there)])
        number = None if every.number is None else every.number[index]
        some = LinearData(
            values, label[index], every.weight[index], every.n_classes,
            n_all=len(label), number=number, place=np.arange(len(index)),
        )  # fmt: skip
        some = model._mapped(some, generators[-1])
        settings, priors = model._feature_settings(), model._feature_priors()

        def features(rows: Any) -> FloatArray:
            return np.asarray(model.map_.features(dense_rows(rows))[0])

        mapped = MappedRows(X, features, model.map_.n_features)
        data = LinearData(mapped, label, every.weight, every.n_classes)
        with progress_for(model.verbose) as progress:
            journal = Journal(checkpoint)
            run = sample_linear(data, priors, settings, sampler, generators, progress, journal)
        model.link_, model.left_out_ = calibrate(some, run.weights, settings)
        model._store(run, generators[-1])
        model._rest(np.bincount(label, every.weight, len(model.classes_)).astype(float))
