"""Modules that others import and nobody uses here are executed when somebody does.

scikit-learn imports all of ``scipy.stats`` for one function. A command that reads a model and
predicts never calls it, and would spend a quarter of its time on it.
"""

import sys
import threading
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_executing = threading.RLock()


class _Postponed(ModuleType):
    """A module whose code runs when it is first asked for one of its names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by whoever looks through modules, for their files say
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        with _executing:
            if type(self) is _Postponed:
                self.__class__ = ModuleType  # type: ignore[assignment]
                loader = None if self.__spec__ is None else self.__spec__.loader
                assert loader is not None
                loader.exec_module(self)
        return getattr(self, name)


def postpone(name: str) -> None:
    """Have a module of a package imported when something in it is used.

    Examples
    --------
    >>> import sys
    >>> from bayesmargin.cli.postponing import postpone
    >>> postpone("wsgiref.headers")
    >>> from wsgiref import headers
    >>> "Headers" in vars(headers), headers.Headers.__name__
    (False, 'Headers')
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    module.__class__ = _Postponed
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, module)
