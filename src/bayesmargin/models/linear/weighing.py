"""What a row counts: sample weights, class weights, and groups of rows that belong together."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels
from bayesmargin.models.settings import check_class_weight
from bayesmargin.rows.files import FileRows


def class_factors(
    class_weight: Any, classes: Any, label: IntArray, weight: FloatArray
) -> FloatArray:
    """Factor of ``C`` for each class.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping of labels to numbers
        "balanced" lets all classes count alike, and all rows as much as before on average. Labels
        that a mapping leaves out count once.
    classes : array of shape (n_classes,)
    label : array of shape (n_rows,)
        Class numbers.
    weight : array of shape (n_rows,)
        Sample weights: a row of weight two counts as two.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.linear.weighing import class_factors
    >>> label = np.array([0, 0, 0, 1])
    >>> class_factors("balanced", np.array(["ham", "spam"]), label, np.ones(4))
    array([0.66666667, 2.        ])
    >>> class_factors({"spam": 5}, np.array(["ham", "spam"]), label, np.ones(4))
    array([1., 5.])
    """
    check_class_weight(class_weight)
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        present = np.bincount(label, weights=weight, minlength=len(classes))
        return present.sum() / (len(classes) * np.maximum(present, np.min(present[present > 0.0])))
    names = classes.tolist()
    given = {_plain(name): float(value) for name, value in class_weight.items()}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown[0]!r}, which is not among the classes {names[:8]!r}"
        )
    return np.array([given.get(name, 1.0) for name in names])


def group_numbers(groups: Any, X: Any, n_rows: int) -> IntArray | None:
    """Groups of rows, numbered from 0; None where none are given."""
    if groups is None:
        return None
    if isinstance(X, FileRows):
        raise ValueError(
            "groups are known for rows in memory only: pass a matrix, or leave groups out"
        )
    names = np.asarray(plain_labels(groups))
    if names.shape != (n_rows,):
        raise ValueError(f"groups has the shape {names.shape}, but X has {n_rows} rows")
    numbers: IntArray = np.unique(names, return_inverse=True)[1]
    if numbers.max() == 0:
        raise ValueError(
            "groups holds one group only: rows of one group tell nothing of how groups differ; "
            "leave groups out, or name at least two"
        )
    return numbers


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name
