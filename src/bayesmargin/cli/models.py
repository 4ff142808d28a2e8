"""Saved models as the commands use them: estimator, preparation, and rows prepared for it."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bayesmargin.cli.failures import UNTRUSTED, CommandError
from bayesmargin.cli.output import Output


@dataclass
class Rows:
    """Rows that a model can read."""

    X: Any
    y: Any = None
    ids: Any = None
    id_name: str = "row"
    texts: list[str] | None = None
    remarks: list[str] = field(default_factory=list)
    numbers: Any = None  #: places of the rows in their file, counted from 1

    def named(self) -> "Rows":
        """The same with names: those of the rows, or else their places in the file."""
        if self.ids is not None:
            return self
        numbers = range(1, self.X.shape[0] + 1) if self.numbers is None else self.numbers
        return replace(self, ids=[f"{self.id_name} {number}" for number in numbers])


@dataclass
class SavedModel:
    """A model with what was saved beside it."""

    estimator: Any
    extras: dict[str, Any]
    path: Path

    @property
    def fit_record(self) -> dict[str, Any]:
        """How it was fitted; empty for models saved from Python."""
        found = self.extras.get("fit", {})
        return found if isinstance(found, dict) else {}

    @property
    def preparation(self) -> Any:
        """The preparation saved with it, or None; documents of other programs are none."""
        from bayesmargin.tables import Preparation

        stored = self.extras.get("preparation")
        return None if stored is None or self.foreign else Preparation.from_json(stored)

    @property
    def foreign(self) -> bool:
        """Whether the preparation is a document of somebody's own, saved from Python."""
        stored = self.extras.get("preparation")
        ours = bool(self.fit_record) or (isinstance(stored, dict) and "kind" in stored)
        return stored is not None and not ours

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns that the model reads, where known."""
        if self.preparation is not None:
            return self.preparation.feature_names
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def reading(self, **changes: Any) -> Any:
        """How files are read for it; changes that are None are none."""
        from bayesmargin.tables import Reading

        try:
            reading = Reading.from_json(self.extras.get("reading", {}))
        except TypeError as error:
            writer = self.fit_record.get("library")
            raise CommandError(
                f"{self.path} was fitted by bayesmargin {writer!s:.20}, which reads files in ways "
                f"that this version does not know ({error}): use that version",
                UNTRUSTED,
            ) from error
        reading = replace(reading, measured=predicts_values(self.estimator))
        return replace(reading, **{key: v for key, v in changes.items() if v is not None})

    def read(self, data: Path, reading: Any, *, labelled: bool, named: bool = False) -> Rows:
        """Read a file and prepare its rows as the training rows were prepared.

        Rows are numbered where the column of their names is not there, unless they must be
        ``named``.
        """
        if self.fit_record.get("as_is"):
            return _rows_as_is(data, reading, self.estimator)
        from bayesmargin.tables import format_of, read_table
        from bayesmargin.tables.reading import NAMED

        form = format_of(data, reading.format) if data.exists() else "csv"
        if form not in ("csv", "tsv"):
            reading = replace(reading, separator=None)
        if form not in NAMED:
            reading = replace(  # columns that this file cannot have
                reading, target=None, identity=None, text=None, drop=(), categorical=()
            )
        preparation = self.preparation
        texts = getattr(preparation, "text_columns", ())
        numbers = getattr(preparation, "number_columns", ())
        table = read_table(
            data, reading, labelled=labelled, named=named, checked=False, as_text=texts,
            numeric=numbers,
        )  # fmt: skip
        if preparation is not None and preparation.kind == table.kind:
            table.remarks.extend(preparation.gaps(table))
        if self.foreign:
            table.remarks.append(
                f"{self.path} has a preparation that bayesmargin fit did not make: columns are "
                "read as they are"
            )
        return prepared(table, preparation, self.estimator, drop=labelled)


def predicts_values(estimator: Any) -> bool:
    """Whether a model predicts values and not classes."""
    from bayesmargin.models.registry import model_of

    model = model_of(estimator)
    return model is not None and model.answers == "values"


def load_saved(path: Path) -> SavedModel:
    """Read a saved model; what cannot be trusted is refused."""
    from bayesmargin.cli.postponing import postpone

    postpone("scipy.stats")
    from bayesmargin.saving import read_model

    try:
        estimator, extras = read_model(path)
    except FileNotFoundError as error:
        raise CommandError(str(error), UNTRUSTED) from error
    return SavedModel(estimator, extras, path)


def prepared(table: Any, preparation: Any, estimator: Any, drop: bool) -> Rows:
    """Rows of a table; with ``drop`` those that the preparation cannot use are left out."""
    from bayesmargin.tables.table import count

    remarks = list(table.remarks)
    if preparation is None:
        return Rows(_plain_matrix(table, estimator), table.labels, table.ids, table.id_name,
                    remarks=remarks)  # fmt: skip
    if drop:
        usable = preparation.complete(table)
        if not usable.all():
            remarks.append(f"{count(int((~usable).sum()), 'row')} with missing values dropped")
            table = table.take(usable)
    matrix = dense_enough(preparation.transform(table, remarks), estimator)
    texts = table.data if table.kind == "text" else None
    return Rows(matrix, table.labels, table.ids, table.id_name, texts, remarks, table.places)


def dense_enough(matrix: Any, estimator: Any) -> Any:
    """The matrix, made dense for models that read nothing else, when that is affordable."""
    from scipy import sparse

    from bayesmargin.errors import DataError
    from bayesmargin.models.registry import WORDS, model_of

    model = model_of(estimator)
    if not sparse.issparse(matrix) or model is None or model.sparse:
        return matrix
    if matrix.shape[0] * matrix.shape[1] > 200_000_000:
        others = [m.word for m in WORDS.values() if m.sparse and not m.counts]
        raise DataError(
            f"{model.name} reads dense matrices only, and {matrix.shape[0]:,} rows of "
            f"{matrix.shape[1]:,} columns are too many: use --model {' or '.join(others)}"
        )
    return matrix.toarray()


def _plain_matrix(table: Any, estimator: Any) -> Any:
    """Numbers as they are, for models that were saved without a preparation."""
    from bayesmargin.errors import DataError
    from bayesmargin.inputs.names import listed
    from bayesmargin.tables.column_kinds import as_numbers

    width = int(estimator.n_features_in_)
    if table.kind == "matrix":
        matrix = table.widened(width).data
        if matrix.shape[1] != width:
            raise DataError(
                f"{table.source} has {matrix.shape[1]} columns, but the model was fitted on {width}"
            )
        return matrix
    if table.kind == "text":
        raise DataError("the model was saved without a vocabulary: it cannot read documents")
    import numpy as np
    import pandas

    known = getattr(estimator, "feature_names_in_", None)
    names = list(table.data) if known is None else list(known)
    lost = [name for name in names if name not in table.data]
    if lost:
        raise DataError(f"{table.source} has no column {lost[0]!r}, which the model needs")
    if len(names) != width:  # known by their order alone
        raise DataError(
            f"{table.source} has {len(names)} columns ({listed(names)}), but the model was fitted "
            f"on {width}"
        )
    columns = [as_numbers(table.data[name], name, table.source) for name in names]
    if known is None:
        return np.column_stack(columns)
    return pandas.DataFrame(dict(zip(names, columns, strict=True)))


def _rows_as_is(data: Path, reading: Any, estimator: Any) -> Rows:
    """Rows read from the file piece by piece."""
    from bayesmargin.cli.as_is import open_as_is

    rows = open_as_is(data, reading, needed=False, n_features=estimator.n_features_in_)
    return Rows(rows, rows.labels)


def tell(remarks: list[str], output: Output) -> None:
    """Pass remarks about rows on to the reader."""
    for remark in remarks:
        output.note(remark)
