"""How functions of the array engine are compiled.

XLA tries many hand-made kernels for every matrix product that a GPU runs, which took longer than
most fits: a head of 1,000 classes on 100,000 x 384 rows on an H200 took 108 s with them and 29 s
with the products of the vendor's library alone, whose steps were faster too.
"""

from functools import partial

import jax

OPTIONS = {"xla_gpu_enable_triton_gemm": False}

#: ``jax.jit`` for functions that no other compiled function calls.
program = partial(jax.jit, compiler_options=OPTIONS)
