"""Values so large that arithmetic with them fails, found before it does and told with their place.

Models add up squares of features. Those of the linear model do so in single precision in places,
so that values must stay below 1e19; the mixtures scale columns first, in double precision.
"""

from typing import Any

from bayesmargin.errors import DataError
from bayesmargin.rows.finite import LARGEST, too_large

LARGEST_LINEAR = LARGEST
LARGEST_SCALED = 1e100  # divided by a narrow width, its square is one in double precision


def require_size(values: Any, largest: float, names: Any = None) -> None:
    """Refuse a matrix, dense or CSR, with a value beyond ``largest`` in size.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.magnitude import require_size
    >>> require_size(np.array([[1.0, 2.0], [1e300, 3.0]]), 1e19, ["age", "income"])
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: feature 'age' is 1e+300 in row 1 (counted from 0): values beyond \
1e+19 in size cannot be used; mend the value, or divide the column by a number of its size
    """
    found = too_large(values, largest)
    if found is None:
        return
    row, column, value = found
    name = column if names is None else repr(names[column])
    raise DataError(
        f"feature {name} is {value:g} in row {row} (counted from 0): values beyond {largest:g} in "
        "size cannot be used; mend the value, or divide the column by a number of its size"
    )
