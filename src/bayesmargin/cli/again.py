"""The rows that a fit held out, read again from its file when that has not changed."""

from bayesmargin.cli.models import Rows, SavedModel, predicts_values, prepared
from bayesmargin.cli.stamps import changed_since


def held_out_again(saved: SavedModel) -> tuple[Rows | None, str]:
    """Held-out rows, or None and why there are none."""
    from bayesmargin.cli.fitting import split_table, usable_rows
    from bayesmargin.tables import read_table

    record = saved.fit_record
    if not record:
        return None, "the model was not fitted by this program"
    if not record.get("validation_rows"):
        return None, "the fit held no rows out"
    why = changed_since(record)
    if why is not None:
        return None, why
    reading, preparation = saved.reading(labels=record.get("labels")), saved.preparation
    table = usable_rows(read_table(record["data"], reading), preparation)
    _, held = split_table(
        table, record["validation"], record["seed"], predicts_values(saved.estimator)
    )
    rows = prepared(held, preparation, saved.estimator, drop=True)
    rows.remarks = []  # said when the model was fitted
    return rows, ""
