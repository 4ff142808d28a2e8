"""What a command says: tables for people, or one JSON document; remarks go to stderr."""

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Output:
    """Speaks for a command.

    Parameters
    ----------
    as_json : bool
        One JSON document on stdout, nothing else there.
    quiet : bool
        No remarks and no progress; doubts about the result are still told.
    """

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.warnings: list[str] = []
        self.categories: set[str] = set()  # of the Python warnings caught

    def line(self, text: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            sys.stdout.write(f"{text}\n")

    def table(
        self, headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None
    ) -> None:
        """A table for people; numbers to the right."""
        if self.as_json:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        rows = [list(row) for row in rows]
        table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        for j, heading in enumerate(headings):
            numeric = all(isinstance(row[j], int | float) for row in rows) and bool(rows)
            table.add_column(Text(heading), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        console = Console(highlight=False)
        if not console.is_terminal:  # a file or a pipe has no width
            console = Console(highlight=False, width=max(console.width, 160))
        console.print(table)

    def remark(self, text: str) -> None:
        """Something worth knowing, on stderr."""
        if not self.quiet:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def warn(self, text: str) -> None:
        """Something wrong that does not stop the command: on stderr, and in the JSON."""
        self.warnings.append(text)
        if not self.as_json:
            sys.stderr.write(f"warning: {text}\n")

    def note(self, text: str) -> None:
        """Something odd about the data: like a warning, but not said when we are to be quiet."""
        if self.quiet:
            self.warnings.append(text)
        else:
            self.warn(text)

    def answer(self, document: Mapping[str, Any]) -> None:
        """The JSON document, when that is what was asked for."""
        if self.as_json:
            whole = {**document, **({"warnings": self.warnings} if self.warnings else {})}
            sys.stdout.write(json.dumps(plain(whole), indent=2, allow_nan=False) + "\n")

    @contextmanager
    def catching_warnings(self) -> Iterator[None]:
        """Turn Python warnings into our own, each said once."""
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                told = dict.fromkeys(
                    " ".join(str(one.message).split()) for one in caught if _ours(one.category)
                )
                self.categories |= {one.category.__name__ for one in caught}
                for text in told:
                    self.warn(text)


def _ours(category: type[Warning]) -> bool:
    """Whether a warning is meant for users; those about deprecated code are not."""
    return not issubclass(
        category, DeprecationWarning | PendingDeprecationWarning | FutureWarning | ResourceWarning
    )


def beside(path: Path, ending: str) -> Path:
    """A name beside a file or folder, which may be given as ``.`` or ``..``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesmargin.cli.output import beside
    >>> beside(Path("models/churn"), ".html").as_posix()
    'models/churn.html'
    """
    if path.name in ("", ".."):
        path = Path(os.path.abspath(path))
    return path.parent / f"{path.name}{ending}"


def require_other_file(output: Path, data: Any) -> None:
    """Refuse to write over the data that a command reads."""
    from bayesmargin.cli.failures import usage_error

    if data is not None and output.exists() and Path(data).exists() and output.samefile(data):
        raise usage_error(f"--output {output} would overwrite the data: choose another file")


def shown(value: Any) -> str:
    """A cell of a table."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return "" if math.isnan(value) else f"{value:.4g}"


def plain(value: Any) -> Any:
    """A value as JSON has it: no NumPy, no NaN, no paths.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.cli.output import plain
    >>> plain({"accuracy": np.float64(0.5), "r_hat": float("nan")})
    {'accuracy': 0.5, 'r_hat': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    missing = type(value).__name__ in ("NAType", "NaTType")  # of pandas, not imported for this
    return None if missing else str(value)
