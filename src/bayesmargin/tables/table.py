"""What a reader gives: rows of one of three kinds, their labels and their names."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from bayesmargin.errors import DataError

Kind = Literal["columns", "matrix", "text"]
LARGEST_WHOLE = 2**53  # up to which a float tells whole numbers apart
MOST_NUMBERS = 100  # distinct fractions in a target beyond which it is a measurement


@dataclass(frozen=True)
class Reading:
    """How files are read; stored with a model, so that new files are read like the first.

    Attributes
    ----------
    format : str or None
        One of :data:`bayesmargin.tables.FORMATS`; None goes by the name of the file.
    target, identity, text : str or None
        Columns of the labels, of the row names and of the documents.
    drop, categorical : tuple of str
        Columns left out, and columns of categories even where they hold numbers.
    labels : str or None
        A file of labels for formats without them.
    label_first : bool
        Lines of text begin with a label and a tab.
    n_features : int or None
        svmlight: number of features, when the last ones may not occur.
    separator : str or None
        CSV: what stands between fields; None finds out.
    measured : bool
        Labels are measurements, not classes.
    """

    format: str | None = None
    target: str | None = None
    identity: str | None = None
    text: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    labels: str | None = None
    label_first: bool = False
    n_features: int | None = None
    separator: str | None = None
    measured: bool = False

    def to_json(self) -> dict[str, Any]:
        """Settings as JSON; the label file belongs to one data file and is left out."""
        settings = asdict(self)
        del settings["labels"], settings["measured"]  # which the model knows
        return {key: list(v) if isinstance(v, tuple) else v for key, v in settings.items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Settings from :meth:`to_json`."""
        known: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()
        }
        return cls(**known)


@dataclass(frozen=True)
class Table:
    """Rows in memory.

    Attributes
    ----------
    kind : {"columns", "matrix", "text"}
        A pandas data frame, a numeric matrix (dense or CSR) or a list of documents.
    data : DataFrame, array, CSR matrix or list of str
    labels : array or None
        Class of every row.
    ids : sequence or None
        Name of every row, with ``id_name`` the name of their column.
    source : str
        Where the rows come from, for messages.
    numbers : array or None
        Place of every row in the source, counted from 1; None where all rows are here.
    open_ended : bool
        A sparse matrix whose source does not say how many columns it has: the last of them may
        hold nothing but zeros, which svmlight files leave out.
    """

    kind: Kind
    data: Any
    labels: Any = None
    ids: Any = None
    id_name: str = "row"
    source: str = ""
    remarks: list[str] = field(default_factory=list)
    numbers: Any = None
    open_ended: bool = False

    def __len__(self) -> int:
        return len(self.data) if self.kind == "text" else int(self.data.shape[0])

    def widened(self, n_features: int) -> "Table":
        """The table with as many columns, where its source does not say how many it has."""
        from scipy import sparse

        if not self.open_ended or self.data.shape[1] >= n_features:
            return self
        parts = (self.data.data, self.data.indices, self.data.indptr)
        return replace(self, data=sparse.csr_array(parts, shape=(len(self), n_features)))

    def take(self, index: Any) -> "Table":
        """Some rows, by number or by a mask."""
        index = np.asarray(index)
        index = np.flatnonzero(index) if index.dtype == bool else index
        if self.kind == "columns":
            data = self.data.iloc[index]
        elif self.kind == "text":
            data = [self.data[i] for i in index]
        else:
            data = self.data[index]
        labels = None if self.labels is None else self.labels[index]
        ids = None if self.ids is None else [self.ids[i] for i in index]
        return replace(self, data=data, labels=labels, ids=ids, numbers=self.places[index])

    @property
    def places(self) -> Any:
        """Place of every row in the source, counted from 1."""
        return np.arange(1, len(self) + 1) if self.numbers is None else self.numbers


def clean_labels(values: Any, name: str, measured: bool = False) -> Any:
    """Labels as an array of whole numbers or of words; a missing one is an error.

    Those that are ``measured`` are numbers in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.tables.table import clean_labels
    >>> clean_labels(np.array([1.0, 0.0]), "target")
    array([1, 0])
    """
    import pandas

    series = pandas.Series(values)
    missing = np.flatnonzero(series.isna().to_numpy())
    if len(missing):
        raise DataError(
            f"{name} has no value in {count(len(missing), 'row')} (first: row {missing[0] + 1}): a "
            "row without a label cannot be used; remove it (in CSV files NA, None and null are no "
            "values either: give a class of that name another)"
        )
    if measured:
        return _measurements(series, name)
    if pandas.api.types.is_bool_dtype(series.dtype):
        return series.to_numpy(bool)
    if not pandas.api.types.is_numeric_dtype(series.dtype):
        return series.astype(str).to_numpy(dtype=np.str_)
    numbers = series.to_numpy()
    if numbers.dtype.kind in "iu":
        beyond = numbers.dtype == np.uint64 and numbers.max(initial=0) > np.iinfo(np.int64).max
        return numbers.astype(np.str_ if beyond else np.int64)
    numbers = numbers.astype(float)
    if not np.all(np.isfinite(numbers)):
        raise DataError(f"{name} holds infinite values: labels are whole numbers or words")
    largest = numbers[np.abs(numbers).argmax()] if len(numbers) else 0.0
    if abs(largest) > LARGEST_WHOLE:
        raise DataError(
            f"{name} holds {largest:g}: numbers beyond {LARGEST_WHOLE:,} cannot be told apart; "
            "write labels as words"
        )
    if np.all(numbers == np.round(numbers)):
        return numbers.astype(np.int64)
    distinct = len(np.unique(numbers))
    if distinct > MOST_NUMBERS:
        raise DataError(
            f"{name} holds {distinct} different fractions such as {numbers[0]:g}: it is a "
            "measurement and not a class; choose another target, or cut it into classes"
        )
    return np.array([word(number) for number in numbers.tolist()])


def _measurements(series: Any, name: str) -> Any:
    """A column without gaps as finite numbers."""
    import pandas

    numbers = pandas.to_numeric(series, errors="coerce").to_numpy(float)
    odd = np.flatnonzero(~np.isfinite(numbers))
    if len(odd):
        raise DataError(
            f"{name} holds {str(series.iloc[odd[0]])!r} in row {odd[0] + 1}: a regression predicts "
            "numbers; --model linear predicts classes"
        )
    return numbers


def word(value: Any) -> str:
    """A value as a word, whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def count(number: int, what: str) -> str:
    """A number with its noun: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def brief(error: BaseException) -> str:
    """First line of somebody else's message."""
    lines = str(error).strip().splitlines()
    return lines[0].removeprefix("Error tokenizing data. C error: ") if lines else repr(error)
