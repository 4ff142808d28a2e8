"""Machine code on disk: where a kernel finds what an earlier process compiled.

Numba keeps an index of the compiled forms of each function. Here the folder of the index is named
by a hash of our sources (``compiling.py``), which is computed when a kernel is first called; code
for classes of other packages has an index of its own for each state of their files
(``foreign.py``), so that a process that cannot import these classes does not stumble over it.
A folder that cannot be written to is read all the same.
"""

import contextlib
import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)

from bayesmargin.foundation.foreign import modules_outside, sources_hash


class _Locator(UserProvidedCacheLocator):
    """A folder that need not be writable: compiled code may have been baked into an image."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator | None":
        return cls(py_func, py_file) if Path(py_file).exists() else None


class _Storage(CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Locator, *CompileResultCacheImpl._locator_classes[1:]]


class _Kept(FunctionCache):
    _impl_class = _Storage


class Cache(NullCache):
    """Machine code on disk, apart for each state of the files outside that it comes from.

    Parameters
    ----------
    function : callable
        The kernel.
    folder : callable
        Gives the folder of its machine code. It is asked when the kernel is first compiled or
        loaded: whoever calls none does not pay for the hash of our sources.
    """

    def __init__(self, function: Any, folder: Callable[[], Path]) -> None:
        self._function, self._folder = function, folder

    @functools.cached_property
    def _own(self) -> _Kept:
        previous = config.CACHE_DIR
        config.CACHE_DIR = str(self._folder())
        try:
            return _Kept(self._function)
        finally:
            config.CACHE_DIR = previous

    @property
    def cache_path(self) -> Any:
        """Folder of the index."""
        return self._own.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code for these types, or None."""
        home = self._home(sig)
        return None if home is None else home.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code for these types, where the disk takes it."""
        home = self._home(sig)
        if home is not None:
            with contextlib.suppress(OSError):
                home.save_overload(sig, data)

    def _home(self, sig: Any) -> _Kept | None:
        outside = modules_outside(self._function, getattr(sig, "args", sig))
        if not outside:
            return None if outside is None else self._own
        home = copy.copy(self._own)
        name = f"{home._impl.filename_base}-{sources_hash(outside)}"
        stamp = home._impl.locator.get_source_stamp()
        home._cache_file = IndexDataCacheFile(home._cache_path, name, stamp)
        return home
