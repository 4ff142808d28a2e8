"""Generic functions in compiled code: the type of the first argument picks the body.

``numba.extending.overload`` would do. But it asks the bodies of all classes in turn, each twice,
and it compiles the body that serves anew for every set of compiler flags that a caller happens to
have: the gradient of one target three times in a first fit. Here a generic has one table, and a
body is compiled once for the types that it is called with.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global

Body = Callable[..., Any]


class _Table(AbstractTemplate):
    """What the compiler asks for the body of a generic; each generic has a class of its own."""

    bodies: ClassVar[dict[type, Callable[[], Any]]]
    compiled: ClassVar[dict[Any, Any]]

    def generic(self, args: Any, kws: Any) -> Any:
        """Signature of the body for these types, compiled, or None where no class has one."""
        kind: Any = getattr(args[0], "instance_class", None) if args else None
        body = self.bodies.get(kind)
        if body is None:
            return None
        kernel = body()
        signature = types.Dispatcher(kernel).get_call_type(self.context, args, kws)
        self.compiled[signature.args] = kernel.get_overload(signature)
        return signature

    def get_impl_key(self, sig: Any) -> Any:
        """The compiled body."""
        return self.compiled[sig.args]


_tables: dict[Body, type[_Table]] = {}


def add_body(generic: Body, kind: type, kernel: Callable[[], Any]) -> None:
    """Let ``generic`` be what ``kernel`` gives, for arguments whose first is a ``kind``."""
    if generic not in _tables:
        own = {"key": generic, "bodies": {}, "compiled": {}}
        _tables[generic] = type(f"Bodies_{generic.__name__}", (_Table,), own)
        infer_global(generic, types.Function(_tables[generic]))
    _tables[generic].bodies[kind] = kernel
