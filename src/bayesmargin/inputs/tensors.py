"""Tensors of other libraries as NumPy arrays, by DLPack, which shares memory where it can."""

from typing import Any

import numpy as np

CPU = 1  # kind of device, in the words of DLPack


def host_array(X: Any) -> Any:
    """A tensor of PyTorch, JAX or CuPy as a NumPy array; anything else as it is.

    On the CPU memory is shared. Tensors of a GPU are copied to memory, and ``bfloat16``, which
    NumPy has no name for, becomes single precision, which holds its numbers exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.inputs.tensors import host_array
    >>> rows = np.ones((2, 3))
    >>> host_array(rows) is rows
    True
    """
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__"):
        return X
    if hasattr(X, "__arrow_c_array__"):  # a column of a table, whose way is another
        return X
    X = X.detach() if hasattr(X, "detach") else X  # of a graph that knows gradients
    if "bfloat16" in str(getattr(X, "dtype", "")):
        X = X.float() if hasattr(X, "float") else X.astype("float32")
    kind = int(X.__dlpack_device__()[0]) if hasattr(X, "__dlpack_device__") else CPU
    if kind != CPU:
        return _from_device(X)
    try:
        return np.from_dlpack(X)
    except (BufferError, TypeError, RuntimeError):  # what cannot be shared is copied
        return np.asarray(X)


def _from_device(X: Any) -> Any:
    """A copy in memory: PyTorch has ``cpu``, CuPy has ``get``, JAX copies by itself."""
    for method in ("cpu", "get"):
        if callable(getattr(X, method, None)):
            return np.asarray(getattr(X, method)())
    return np.asarray(X)
