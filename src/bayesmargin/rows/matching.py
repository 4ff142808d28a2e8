"""Whose columns: rows of a file as a model reads them, by name where both sides have names."""

from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.inputs.names import learn_columns, listed
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.svmlight import SvmlightRows


def matched_rows(rows: FileRows, estimator: Any, reset: bool) -> FileRows:
    """Rows whose columns are those of ``estimator``, in its order.

    With ``reset`` the estimator learns the columns of the file. Otherwise those that it was fitted
    on are chosen by name, whatever their order and whatever else is in the file. Where the file or
    the estimator has no names, columns count by their place, and there must be as many.
    """
    if reset:
        rows.require_any()
        learn_columns(estimator, rows.shape[1], rows.feature_names)
        return rows
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or rows.feature_names is None:
        _require_width(rows, estimator)
        return rows
    names = [str(name) for name in known]
    if names == rows.feature_names:
        return rows
    there = set(rows.feature_names)
    missing = [name for name in names if name not in there]
    if missing:
        raise DataError(_disagreement(rows, estimator, names, missing))
    return rows.select(names)


def _require_width(rows: FileRows, estimator: Any) -> None:
    wanted = estimator.n_features_in_
    if rows.shape[1] != wanted:
        sparse = isinstance(rows, SvmlightRows) and rows.shape[1] < wanted
        hint = f": open it with n_features={wanted}" if sparse else ""
        raise DataError(
            f"{rows.path} has {rows.shape[1]} features, but {type(estimator).__name__} is "
            f"expecting {wanted} features as input{hint}"
        )


def _disagreement(rows: FileRows, estimator: Any, names: list[str], missing: list[str]) -> str:
    assert rows.feature_names is not None
    wanted = set(names)
    unexpected = [name for name in rows.feature_names if name not in wanted]
    instead = f"; it has {listed(unexpected)}, unknown to the model" if unexpected else ""
    return (
        f"{rows.path} lacks {listed(missing)} of the {len(names)} columns that "
        f"{type(estimator).__name__} was fitted on{instead}: rename or add columns (their order "
        "does not matter)"
    )
