"""How compiled kernels are linked: each one that Python calls carries all that it calls.

A kernel's machine code holds a copy of every kernel it calls, optimised a second time in its new
place. Numba exports these copies under one name, and of several the process uses whichever came
first: in the process that compiled them the callee's own code, in one that loads machine code from
disk the copy of the kernel that happened to be loaded first. Copies that were optimised in
different places differ in the last bits of their sums. A fit that was compiled, killed and resumed
would then not repeat the draws of an undisturbed one.

Here the copies are private to the kernel that contains them, so its results depend on its source
alone. And a kernel that only other kernels call needs no machine code of its own, only the form
that is linked into them.
"""

import gc
import struct
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes

# Each function has a global variable, named so, for the address of what it raises errors with.
_ENVIRONMENT = "_ZN08NumbaEnv"
# What unpacks the arguments of a call from Python.
_UNPACKING = "_ZN7cpython"
_ADDRESS_BITS = 8 * struct.calcsize("P")


class _Library(JITCodeLibrary):
    """Compiled code whose copies of other kernels are seen by nobody else."""

    _final_module: Any
    _linking_libraries: list[Any]

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if function.name.startswith(_UNPACKING):
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        self._linking_libraries = _parts(self._linking_libraries)
        super().finalize()

    def _finalize_final_module(self) -> None:
        linkable = self._final_module.clone()
        _let_merge(linkable)
        self._shared_module = linkable
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal
        super()._finalize_final_module()


class _InnerLibrary(_Library):
    """Code to be linked into other kernels: none of it is translated for the machine.

    It holds none of what it calls, which is linked, once, into the kernel that Python calls.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        _let_merge(self._final_module)
        self.alone = self._final_module
        variables = [
            f'@"{variable.name}" = common global i{_ADDRESS_BITS} 0'
            for variable in self.alone.global_variables
            if variable.name.startswith(_ENVIRONMENT)
        ]
        self._final_module = llvm.parse_assembly("\n".join(variables))
        self._final_module.name = self.alone.name
        JITCodeLibrary._finalize_final_module(self)

    def _get_module_for_linking(self) -> Any:
        """All of it, for a library of Numba's own kind."""
        if self._shared_module is None:
            self._ensure_finalized()
            self._shared_module = self.alone.clone()
            for part in _parts(self._linking_libraries):
                self._shared_module.link_in(part._get_module_for_linking(), preserve=True)
        return self._shared_module


class _Alone(NamedTuple):
    """One of our inner libraries, without those that it calls."""

    library: _InnerLibrary

    @property
    def _reload_init(self) -> Any:
        return self.library._reload_init

    def _get_module_for_linking(self) -> Any:
        return self.library.alone


def _parts(libraries: list[Any]) -> list[Any]:
    """Everything that libraries call, directly or not, once, callers before those they call.

    The linker drops a function that none of those linked before has asked for.
    """
    found: dict[Any, Any] = {}

    def visit(library: Any) -> None:
        if library not in found:
            inner = isinstance(library, _InnerLibrary)
            found[library] = None  # a kernel may call itself
            for called in reversed(library._linking_libraries) if inner else ():
                visit(called)
            del found[library]  # after all that it calls
            found[library] = _Alone(library) if inner else library

    for library in reversed(libraries):
        visit(library)
    return list(reversed(found.values()))


def _let_merge(module: Any) -> None:
    """Of copies of its functions in several modules that are linked, one is kept."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.linkage = llvm.Linkage.linkonce_odr


class _Linking(LoweringPass):
    library: type[_Library]

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class _OuterLinking(_Linking):
    _name = "bayesmargin_outer_linking"
    library = _Library

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cpython_wrapper = False
        return super().run_pass(state)


@register_pass(mutates_CFG=False, analysis_only=False)
class _InnerLinking(_Linking):
    _name = "bayesmargin_inner_linking"
    library = _InnerLibrary


class OuterCompiler(CompilerBase):
    """Numba's compiler for kernels that Python calls."""

    linking: type[_Linking] = _OuterLinking

    def define_pipelines(self) -> list[PassManager]:
        """Numba's passes, with our kind of library under construction."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(self.linking, AnnotateTypes)
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        """Numba's, while nobody looks for garbage: it took an eighth of the time and found little.

        What is not freed at once is freed after the kernel.
        """
        if not gc.isenabled():  # by a user, or since a kernel that calls this one is compiled
            return super().compile_extra(func)
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            gc.enable()


class InnerCompiler(OuterCompiler):
    """Numba's compiler for kernels that only other kernels call."""

    linking = _InnerLinking
