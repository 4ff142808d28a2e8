"""What is computed once before chains start: tables of the base measure, constants of the rows."""

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.features import fill_features
from bayesmargin.models.infinite_svc.gaussian import (
    log_predictive,
    reset_to_prior,
    student_table,
)
from bayesmargin.models.infinite_svc.newcomer import log_evidence
from bayesmargin.models.infinite_svc.state import (
    Base,
    Components,
    Hinge,
    Rows,
    UncorrelatedBase,
    empty_components,
)


def make_base(
    location: FloatArray,
    strength: float,
    degrees: float,
    scatter: FloatArray,
    weight_scale: float,
    rows: int,
    diagonal: bool = False,
) -> Base:
    """Base measure with the tables that a data set of ``rows`` rows needs."""
    table = student_table(location.shape[0], strength, degrees, rows + 1, diagonal)
    kind = UncorrelatedBase if diagonal else Base
    return kind(location, strength, degrees, scatter, table, weight_scale)


def make_rows(
    covariates: FloatArray, design: FloatArray, labels: IntArray, base: Base, hinge: Hinge
) -> Rows:
    """Data with the constants that a new component asks of every row."""
    classes = max(2, int(labels.max()) + 1)
    square = np.einsum("dj,dj->d", design, design)
    evidence = log_evidence(base.weight_scale**2 * square, hinge, classes)
    density, mode = np.empty(len(labels)), np.full(len(labels), np.nan)
    nested = not base.diagonal and _nested(covariates, design)
    rows = Rows(covariates, design, labels, density, evidence, mode, nested)
    scratch = empty_components(1, covariates.shape[1], 1, design.shape[1], base.diagonal)
    reset_to_prior(scratch, base, 0)
    _fill_base_density(rows, scratch, base, np.empty(scratch.form.shape[1]))
    return rows


def _nested(covariates: FloatArray, design: FloatArray) -> bool:
    """Whether sums of the covariates' products are those of the experts' rows as well."""
    size = covariates.shape[1]
    if size == 0 or design.shape[1] - size not in (0, 1):
        return False
    return bool(np.all(design[:, size:] == 1.0) and np.array_equal(design[:, :size], covariates))


@borrowing_jit
def _fill_base_density(rows: Rows, scratch: Components, base: Base, features: FloatArray) -> None:
    for d in range(rows.labels.shape[0]):
        fill_features(base, rows.covariates[d], features)
        rows.log_base[d] = log_predictive(scratch, base, 0, features)
