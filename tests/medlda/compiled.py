"""Compilation for test loops: not kept on disk, whose key would not see the package change."""

import numba

jit = numba.njit(nogil=True, error_model="numpy")
