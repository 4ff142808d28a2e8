"""Values so large that arithmetic with them fails, found before it does and told with their place.

Models add up squares of features. Those of the linear model do so in single precision in places,
so that values must stay below 1e19; the mixtures scale columns first, in double precision.
"""

from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError

LARGEST_LINEAR = 1e19  # its square is a number in single precision
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
    data = values.data if sparse.issparse(values) else values
    if data.size == 0 or (data.max() <= largest and data.min() >= -largest):
        return
    if sparse.issparse(values):
        place = int(np.argmax(np.abs(data) > largest))
        row = int(np.searchsorted(values.indptr, place, side="right")) - 1
        column, value = int(values.indices[place]), data[place]
    else:
        row, column = (int(number) for number in np.argwhere(np.abs(values) > largest)[0])
        value = values[row, column]
    name = column if names is None else repr(names[column])
    raise DataError(
        f"feature {name} is {value:g} in row {row} (counted from 0): values beyond {largest:g} in "
        "size cannot be used; mend the value, or divide the column by a number of its size"
    )
