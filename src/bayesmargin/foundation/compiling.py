"""How kernels are compiled: one decorator, one way to dispatch on the type of a part.

Parts of a sampler (a row layout, a likelihood, a dynamics) are ``NamedTuple`` classes. A *generic*
function is a plain Python stub; :func:`implements` registers the body that serves one class, and
the compiler picks it by the type of the first argument. A driver written once against the generics
is thus specialised for every combination, and the machine code is kept on disk.

Numba's disk cache looks at the file of the cached function only. A change in another file that the
function calls would go unnoticed, so the cache folder here is named by a hash of the module, of
every module of this package that it imports, followed through, and of every module that registers
the body of a generic: a driver calls those without importing them. Kernels of other packages depend
on all of this one, and code for classes of other packages on their files (``foreign.py``).
"""

import ast
import functools
import hashlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.typing import signature

from bayesmargin.foundation.cache import Cache
from bayesmargin.foundation.foreign import note_body
from bayesmargin.foundation.generics import add_body
from bayesmargin.foundation.linking import InnerCompiler, OuterCompiler

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered (SIMD needs it); NaN and infinity keep their meaning, divergence checks
# depend on them.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).parents[1]
_logger = logging.getLogger(_PACKAGE)


@functools.cache
def _module_file(name: str) -> Path | None:
    path = _ROOT.joinpath(*name.split(".")[1:])
    if path.is_dir():
        return path / "__init__.py"
    file = path.with_suffix(".py")
    return file if file.exists() else None


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements below a node; expressions, which are most of a tree, are not looked at."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


@functools.cache
def _imports(name: str) -> frozenset[str]:
    """Modules of this package named in the import statements of module ``name``."""
    file = _module_file(name)
    if file is None or name == _PACKAGE:
        return frozenset()
    found: set[str] = set()
    for node in _statements(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(m for m in found if m.startswith(_PACKAGE + ".") and _module_file(m))


@functools.cache
def _kernel_modules() -> frozenset[str]:
    """Modules of this package that register the body of a generic function."""
    found = set()
    for file in _ROOT.rglob("*.py"):
        if "@implements(" in file.read_text(encoding="utf-8"):
            parts = file.relative_to(_ROOT).with_suffix("").parts
            found.add(".".join([_PACKAGE, *parts]))
    return frozenset(found)


@functools.cache
def source_hash(name: str) -> str:
    """Hash of the sources that compiled code of module ``name`` can depend on.

    Examples
    --------
    >>> from bayesmargin.foundation.compiling import source_hash
    >>> source_hash("bayesmargin.likelihoods.hinge") == source_hash("bayesmargin.errors")
    False
    """
    pending, reached = [name, *_kernel_modules()], set()
    while pending:
        module = pending.pop()
        if module not in reached:
            reached.add(module)
            pending.extend(_imports(module))
    files = {module: _module_file(module) for module in reached}
    return _hash({module: file for module, file in files.items() if file is not None})


@functools.cache
def package_hash() -> str:
    """Hash of all sources of this package: what kernels written elsewhere can depend on."""
    return _hash({str(file.relative_to(_ROOT)): file for file in _ROOT.rglob("*.py")})


def _hash(files: dict[str, Path]) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for name, file in sorted(files.items()):
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder of the compiled code: ``BAYESMARGIN_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("BAYESMARGIN_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / _PACKAGE


def _options(borrows: bool, inner: bool) -> dict[str, Any]:
    return {
        "nogil": True,
        "fastmath": FASTMATH,
        "error_model": "numpy",
        # Said in either case: a function that does not say takes it from whoever calls it first.
        "_nrt": not borrows,
        # The second way of being called, as a C function, is used nowhere.
        "no_cfunc_wrapper": True,
        # OuterCompiler adds what unpacks arguments. Numba compiles its own functions anew for every
        # set of flags that calls them, so these are the same inside and outside.
        "no_cpython_wrapper": True,
        "pipeline_class": InnerCompiler if inner else OuterCompiler,
    }


def jit(function: F) -> F:
    """Compile ``function``, release the GIL inside it, and keep the machine code on disk."""
    return _compiled(function, borrows=False, inner=False)


def borrowing_jit(function: F) -> F:
    """Compile a function that only borrows its arrays: it allocates none and keeps none.

    Reference counts are then left out. Handing NamedTuples of arrays from part to part at every
    iteration otherwise costs more than the arithmetic of a small batch.
    """
    return _compiled(function, borrows=True, inner=False)


def inner_jit(function: F) -> F:
    """Compile a function that only compiled code calls (others go through :func:`from_python`).

    What unpacks the arguments of a call from Python is then left out. For NamedTuples of many
    arrays it takes longer to compile than most kernels that receive them.
    """
    return _compiled(function, borrows=False, inner=True)


def inner_borrowing_jit(function: F) -> F:
    """Compile a function that only compiled code calls, and that only borrows its arrays."""
    return _compiled(function, borrows=True, inner=True)


def from_python(kernel: F) -> F:
    """What Python calls in the place of an inner function, for tests of it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.compiling import from_python
    >>> from bayesmargin.foundation.linear_algebra import dot
    >>> from_python(dot)(np.ones(3), np.ones(3))
    3.0
    """

    def call(*args: Any) -> Any:
        return kernel(*args)

    return numba.njit(**_options(borrows=False, inner=False))(call)


class DirectCaller:
    """Calls kernels without looking at the types of their arguments, but for the first time.

    A call of a kernel asks for the type of everything it is given; with NamedTuples of many arrays
    that takes tens of microseconds, as much as a small sweep. Whoever makes the same calls again
    and again keeps a caller of its own. It tells calls apart by the kernel and by the class of the
    first argument; the types of the others must stay what they were.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.compiling import DirectCaller
    >>> from bayesmargin.foundation.streams import next_bits
    >>> call, stream = DirectCaller(), np.zeros(1, np.uint64)
    >>> hex(call(next_bits, stream))
    '0xe220a8397b1dcdaf'
    """

    def __init__(self) -> None:
        self._codes: dict[Any, Any] = {}

    def __call__(self, kernel: Any, first: Any, *others: Any) -> Any:
        """Call ``kernel`` with the arguments."""
        code = self._codes.get((kernel, type(first)))
        if code is None:
            code = self.look_up(kernel, first, *others)
        return code(first, *others)

    def look_up(self, kernel: Any, first: Any, *others: Any) -> Any:
        """Machine code for arguments of these types, which is kept for later calls."""
        types = [numba.typeof(argument) for argument in (first, *others)]
        code = kernel.get_compile_result(signature(None, *types)).entry_point
        self._codes[kernel, type(first)] = code
        return code


def _compiled(function: F, borrows: bool, inner: bool) -> F:
    if inner:  # part of those that are kept on disk
        return numba.njit(**_options(borrows, inner))(function)
    kernel = numba.njit(**_options(borrows, inner))(function)
    if not numba.config.DISABLE_JIT:
        kernel._cache = Cache(function, functools.partial(_folder_of, function.__module__))
    return kernel


def _folder_of(module: str) -> Path:
    """Folder of the machine code of a module's kernels, in the state that the sources are in."""
    inside = module.partition(".")[0] == _PACKAGE
    return cache_folder() / (source_hash(module) if inside else package_hash())


def implements(
    generic: Callable[..., Any], kind: type, *, borrows: bool = False
) -> Callable[[F], F]:
    """Register the decorated function as ``generic`` for arguments whose first is a ``kind``.

    ``borrows`` promises what :func:`borrowing_jit` asks for: no array allocated, none kept.
    """

    def register(function: F) -> F:
        # Not inline="always": Numba then miscompiles a body that calls one generic before another
        # in a loop. Langevin steps lost their data term that way, silently.
        @functools.cache
        def kernel() -> Any:
            return _compiled(function, borrows, inner=True)

        add_body(generic, kind, kernel)
        note_body(kind, function)
        return function

    return register


class _Announcer(event.Listener):
    """Say once per process that compilation is going on, so that nobody takes it for a hang."""

    said = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data.get("dispatcher")
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", "") or ""
        if not self.said and module.startswith(_PACKAGE + "."):
            type(self).said = True
            _logger.warning(
                "compiling kernels for this kind of data (first use only, 5 to 90 s; kept in %s)",
                cache_folder(),
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


if "sphinx" not in sys.modules:
    event.register("numba:compile", _Announcer())
