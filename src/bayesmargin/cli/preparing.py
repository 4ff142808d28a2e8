"""The preparation that a fit asks for, checked before any data are read."""

from typing import Any

from bayesmargin.cli.estimators import value_of
from bayesmargin.cli.failures import usage_error
from bayesmargin.cli.request import FitRequest


def require_preparation(request: FitRequest) -> None:
    """Refuse settings of the preparation that no data could make right."""
    from bayesmargin.errors import DataError
    from bayesmargin.tables import ColumnPreparation

    try:
        ColumnPreparation(missing=request.missing)
    except DataError as error:
        raise usage_error(f"--missing {request.missing}: {error}") from error
    if request.vectorizer or request.weighting:
        _text_preparation(request)


def make_preparation(request: FitRequest, kind: str) -> Any:
    """The preparation that suits rows and model."""
    from bayesmargin.tables import ColumnPreparation, MatrixPreparation

    if kind == "text":
        return _text_preparation(request)
    if request.vectorizer or request.weighting:
        raise usage_error("--vectorizer and --weighting are for documents (see --text)")
    scale = request.scale and not _counts(request)
    if kind == "matrix":
        return MatrixPreparation(scale)
    categorical = request.reading.get("categorical", ())
    return ColumnPreparation(scale, request.missing, categorical)


def choose_covariates(request: FitRequest, estimator: Any, preparation: Any, X: Any) -> str | None:
    """Leave 0/1 columns of a table to the experts of an infinite SVM, and say so.

    Each combination of their values would be a component that no row can leave. Where there is no
    other column, or the user has chosen, all stays as it is.
    """
    chosen = any(word.partition("=")[0].strip() == "covariates" for word in request.settings)
    if request.model != "infinite" or chosen or getattr(preparation, "kind", None) != "columns":
        return None
    from bayesmargin.models.infinite_svc.fitting import continuous_columns
    from bayesmargin.tables.table import count

    n_columns = len(continuous_columns(X))
    if not 0 < n_columns < X.shape[1]:
        return None
    estimator.set_params(covariates="continuous")
    return (
        f"Components are told apart by {count(n_columns, 'column')} of more than two values; "
        "columns of 0 and 1 are left to their experts (--set covariates=true: by all columns)."
    )


def _counts(request: FitRequest) -> bool:
    """Whether the model reads counts: topics are made of words that are counted."""
    return request.model == "medlda"


def _text_preparation(request: FitRequest) -> Any:
    from bayesmargin.errors import DataError
    from bayesmargin.tables import TextPreparation

    settings = {}
    for word in request.vectorizer:
        name, equals, text = word.partition("=")
        if not equals:
            raise usage_error(f"--vectorizer {word} is not NAME=VALUE")
        settings[name.strip()] = value_of(text)
    weighting = request.weighting or ("counts" if _counts(request) else "tfidf")
    try:
        return TextPreparation(weighting, **settings)
    except DataError as error:
        raise usage_error(str(error)) from error
