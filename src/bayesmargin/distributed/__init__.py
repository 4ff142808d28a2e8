"""The same models on a Dask cluster; imported only when a Dask collection is passed.

*Shards* are the partitions of the data, kept on the workers. *Stations* are the few rows that can
still change their state under the posterior, also on the workers. Chains travel between stations;
what travels with them is their state. See ``docs/guides/cluster.md``.
"""

import sys
from typing import Any


def is_collection(X: Any) -> bool:
    """Whether ``X`` is a Dask array, a Dask data frame or a list of delayed partitions.

    Nothing is imported to find out: data that come from Dask have imported it already.

    Examples
    --------
    >>> from bayesmargin.distributed import is_collection
    >>> is_collection([[1.0, 2.0]])
    False
    """
    if "dask" not in sys.modules:
        return False
    from dask.base import is_dask_collection
    from dask.delayed import Delayed

    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(part, Delayed) for part in X)
    return bool(is_dask_collection(X))
