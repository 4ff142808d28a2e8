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
from typing import Any

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

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if function.name.startswith(_UNPACKING):
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def _finalize_final_module(self) -> None:
        linkable = self._final_module.clone()
        for function in linkable.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = llvm.Linkage.linkonce_odr
        self._shared_module = linkable
        self._close()
        super()._finalize_final_module()

    def _close(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal


class _InnerLibrary(_Library):
    """Code to be linked into other kernels: none of it is translated for the machine."""

    def _optimize_final_module(self) -> None:
        """Left to the kernels that it is linked into: they optimise all that they hold."""

    def _close(self) -> None:
        variables = [
            f'@"{variable.name}" = common global i{_ADDRESS_BITS} 0'
            for variable in self._final_module.global_variables
            if variable.name.startswith(_ENVIRONMENT)
        ]
        name = self._final_module.name
        self._final_module = llvm.parse_assembly("\n".join(variables))
        self._final_module.name = name


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
