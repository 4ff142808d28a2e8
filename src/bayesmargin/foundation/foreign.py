"""Files outside this package that compiled code of ours depends on.

A driver of ours that is specialised for a part of somebody else's, a coordinate system or a prior
of their own, contains machine code of their functions. Their files are in no folder whose hash we
know beforehand, so what such a kernel leaves on disk is filed under a hash of them: the files of
the classes among its arguments, those that register bodies for these classes, and what they import
from their own package or folder, followed through.

A class that is not importable by its name, from a notebook or made inside a function, is another
one in each process. Nothing of it is kept.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_BUILTIN = ("builtins", "collections", "numba", "numpy", _PACKAGE)

# Modules with the bodies that were registered for a class.
_bodies: dict[type, set[str]] = {}


def note_body(kind: type, function: Any) -> None:
    """Remember in which module the body that serves a class is written."""
    _bodies.setdefault(kind, set()).add(function.__module__)


def modules_outside(function: Any, types: Any) -> set[str] | None:
    """Modules of others that a kernel depends on when it is compiled for these types.

    None where a class among the types is not to be found by its name.
    """
    modules = {function.__module__}
    for kind in _classes(types):
        if not _importable(kind):
            return None
        modules |= {kind.__module__, *_bodies.get(kind, ())}
    return {name for name in modules if name.partition(".")[0] not in _BUILTIN}


def sources_hash(modules: set[str]) -> str:
    """Hash of the files of modules outside this package and of what they import from beside them.

    Examples
    --------
    >>> from bayesmargin.foundation.foreign import sources_hash
    >>> sources_hash({"json"}) == sources_hash({"csv"})
    False
    """
    pending, files = list(modules), dict[str, Path]()
    while pending:
        name = pending.pop()
        file = _file(name)
        if file is not None and name not in files:
            files[name] = file
            pending.extend(_imports(name, file))
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _classes(types: Any) -> Iterator[type]:
    """Classes of the NamedTuples among types, and among the types that these are made of."""
    for kind in types:
        if hasattr(kind, "instance_class"):
            yield kind.instance_class
        inner = getattr(kind, "types", None) or [getattr(kind, "dtype", kind)]
        if any(part is not kind for part in inner):
            yield from _classes(inner)


def _importable(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "__main__" and getattr(module, kind.__qualname__, None) is kind


def _file(name: str) -> Path | None:
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path) if path and path.endswith(".py") and Path(path).exists() else None


def _imports(name: str, file: Path) -> Iterator[str]:
    """Imported modules of the same package, or of the same folder if there is no package."""
    top = name.partition(".")[0]
    for other in _mentioned(name, file, file.stat().st_mtime_ns):
        beside = _file(other)
        if beside and (other.partition(".")[0] == top or beside.parent == file.parent):
            yield other


@functools.cache
def _mentioned(name: str, file: Path, _changed: int) -> frozenset[str]:
    """Names in the import statements of a module, some of which are modules."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(found)
