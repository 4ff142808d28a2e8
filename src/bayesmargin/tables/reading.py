"""One door to all files: the format by name, the reader by format."""

from pathlib import Path
from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.tables.columns import read_arrow, read_parquet, split_columns
from bayesmargin.tables.csv_files import read_csv
from bayesmargin.tables.dialect import SEPARATORS
from bayesmargin.tables.documents import read_class_folders, read_lines
from bayesmargin.tables.labels import with_labels
from bayesmargin.tables.matrices import read_npy, read_npz, read_svmlight
from bayesmargin.tables.table import Reading, Table
from bayesmargin.tables.text import COMPRESSED

NAMED = ("csv", "tsv", "parquet", "arrow")  # whose columns have names
FORMATS = (*NAMED, "svmlight", "npz", "npy", "text", "folders")
UNPACKED = {  # by the reader of a format
    **dict.fromkeys(("csv", "tsv"), COMPRESSED),
    **dict.fromkeys(("text", "svmlight"), (".gz", ".bz2", ".xz")),
}
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".npy": "npy",
    ".txt": "text",
    ".text": "text",
}


def format_of(path: Path, given: str | None = None) -> str:
    """Format of a file or folder, from what was given or from its name.

    A compression that the reader of the format does not know is an error.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesmargin.tables.reading import format_of
    >>> format_of(Path("clicks.csv.gz"))
    'csv'
    """
    if given is not None:
        if given not in FORMATS:
            raise DataError(f"format {given!r} is not known: choose one of {', '.join(FORMATS)}")
        return _unpacked(path, given)
    if path.is_dir():
        if any(_is_parquet(file) for file in path.iterdir()):
            return "parquet"
        inside = next(filter(_is_parquet, sorted(path.rglob("*"))), None)
        if inside is not None:
            raise DataError(
                f"{path} holds Parquet files in folders ({inside.relative_to(path).parts[0]}), "
                "which are not read: put the files into one folder, with all columns in them"
            )
        return "folders"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in ENDINGS:
        raise DataError(
            f"the format of {path} is not known by its name: files end in "
            f"{', '.join(ENDINGS)} (also compressed), or pass --format"
        )
    return _unpacked(path, ENDINGS[suffixes[-1]])


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _unpacked(path: Path, form: str) -> str:
    """The format, unless the file is packed in a way that its reader would take for content."""
    known = UNPACKED.get(form, ())
    if path.is_file() and path.suffix.lower() in COMPRESSED and path.suffix.lower() not in known:
        others = f", or use one of {', '.join(known)}" if known else ""
        raise DataError(f"{path} is {form} packed as {path.suffix}: unpack it{others}")
    return form


def read_table(
    path: Any,
    reading: Reading | None = None,
    *,
    labelled: bool = True,
    named: bool = True,
    checked: bool = True,
    as_text: Any = (),
    numeric: Any = (),
) -> Table:
    r"""Read a file or folder into memory.

    Parameters
    ----------
    path : path-like
        CSV, TSV, Parquet (also a folder), Arrow, Feather, svmlight, SciPy ``.npz``, ``.npy``, a
        text file with one document a line, or a folder with a folder of documents for each class.
    reading : Reading, optional
        Columns and formats.
    labelled : bool
        Whether labels must be there; without, they are read where they are found.
    named : bool
        Likewise for the column of row names.
    checked : bool
        Likewise for the columns to leave out and those of categories, where there are labels: at a
        fit a name that is not there may be a slip.
    as_text : collection of str
        Columns to read as text even where they look like numbers.
    numeric : collection of str
        Columns known to hold numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesmargin.tables import Reading, read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("width,colour,kind\n1.5,red,rose\n0.5,blue,iris\n")
    ...     table = read_table(path, Reading(target="kind"))
    >>> len(table), table.labels.tolist(), list(table.data)
    (2, ['rose', 'iris'], ['width', 'colour'])
    """
    path, reading = Path(path), reading or Reading()
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if not (path.is_file() or path.is_dir()):
        raise DataError(f"{path} is a pipe or a device, and files are read more than once: save it")
    form = format_of(path, reading.format)
    if reading.separator is not None and form not in SEPARATORS:
        raise DataError(f"--separator is for CSV and TSV files, and {path} is {form}")
    if form in NAMED:
        literal = {name for name in (reading.identity, reading.text) if name is not None}
        texts = {*as_text, *reading.categorical, *literal}
        remarks: list[str] = []
        if form in ("parquet", "arrow"):
            read = read_parquet if form == "parquet" else read_arrow
            frame = read(path, {reading.target, *texts, *reading.drop} - {None}, texts)
        else:
            frame, remarks = read_csv(
                path, form, texts, reading.separator, literal, numeric, reading.target
            )
        table = split_columns(frame, reading, str(path), labelled, named, checked)
        table.remarks[:0] = remarks
    else:
        _refuse_columns(reading, form)
        if form == "folders":
            table = read_class_folders(path, labelled)
        elif form == "text":
            table = read_lines(path, reading.label_first, labelled)
        elif form == "svmlight":
            table = read_svmlight(path, reading.n_features, reading.measured)
        else:
            table = (read_npz if form == "npz" else read_npy)(path)
    if reading.labels is not None:
        table = with_labels(table, Path(reading.labels), reading.measured)
    if len(table) == 0:
        raise DataError(f"{path} holds no rows")
    if labelled and table.labels is None:
        raise DataError(f"{path} holds no labels: {_how_to_label(form)}")
    return table


def _how_to_label(form: str) -> str:
    """What to do about rows without labels."""
    if form in NAMED:
        return "name the column with --target"
    if form == "text":
        return "pass --labels FILE, or --label-first when lines are a label, a tab and a document"
    return "pass --labels FILE"


def _refuse_columns(reading: Reading, form: str) -> None:
    """Options about columns make no sense without columns."""
    named = {
        "--target": reading.target,
        "--id": reading.identity,
        "--text": reading.text,
        "--drop": reading.drop,
        "--categorical": reading.categorical,
    }
    for option, value in named.items():
        if value:
            shown = value if isinstance(value, str) else value[0]
            what = "folders of documents" if form == "folders" else f"{form} files"
            raise DataError(f"{option} {shown} names a column, and {what} have no column names")
