"""The preparation that a fit asks for, checked before any data are read."""

from typing import Any

from bayesmargin.cli.estimators import value_of
from bayesmargin.cli.failures import usage_error
from bayesmargin.cli.request import FitRequest
from bayesmargin.models.registry import WORDS


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


def told_covariates(estimator: Any, preparation: Any, X: Any) -> str | None:
    """Which columns of a table tell the components of an infinite SVM apart, if not all do."""
    of_table = getattr(preparation, "kind", None) == "columns"
    if not of_table or not hasattr(estimator, "components"):
        return None
    from bayesmargin.models.infinite_svc.columns import columns_of_gaussians
    from bayesmargin.models.infinite_svc.components import components_of
    from bayesmargin.tables.table import count

    if components_of(estimator.components).covariates != "auto":
        return None
    columns = columns_of_gaussians("auto", X)
    if isinstance(columns, bool):
        return None
    return (
        f"Components are told apart by {count(len(columns), 'column')} of more than two values; "
        "columns of 0 and 1 are left to their experts (--set components__covariates=true: by all "
        "columns)."
    )


def _counts(request: FitRequest) -> bool:
    """Whether the model reads counts: topics are made of words that are counted."""
    return WORDS[request.model].counts


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
