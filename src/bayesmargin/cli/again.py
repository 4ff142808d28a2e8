"""The rows that a fit held out, read again from its file when that has not changed."""

from pathlib import Path
from typing import Any

from bayesmargin.cli.models import Rows, SavedModel, prepared


def held_out_again(saved: SavedModel) -> tuple[Rows | None, str]:
    """Held-out rows, or None and why there are none."""
    from bayesmargin.cli.fitting import split_table
    from bayesmargin.tables import read_table

    record = saved.fit_record
    if not record:
        return None, "the model was not fitted by this program"
    if not record.get("validation_rows"):
        return None, "the fit held no rows out"
    path = Path(record["data"])
    if not path.exists():
        return None, f"{path} is no longer there"
    if not _unchanged(path, record):
        return None, f"{path} has changed since the fit"
    reading = saved.reading(labels=record.get("labels"))
    table = read_table(path, reading)
    _, held = split_table(table, record["validation"], record["seed"])
    rows = prepared(held, saved.preparation, saved.estimator, drop=True)
    rows.remarks = []  # said when the model was fitted
    return rows, ""


def _unchanged(path: Path, record: dict[str, Any]) -> bool:
    stat = path.stat()
    return bool(stat.st_size == record["bytes"] and stat.st_mtime_ns == record["changed"])
