"""Iterations a second of SSGLD against blackjax's SGLD inside ``jax.lax.scan``, same target.

    python benchmarks/iteration_speed.py    # needs the extra "bench"

10^6 rows of 28 features, plain minibatches of 10, 100 and 1000, no control variates, single
thread on both sides, both sides in this run, the better of three rounds each.
"""

import os

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import sys
import time

import numpy as np

try:
    import blackjax
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not here: pip install "bayesmargin[bench]"')

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGLD
from bayesmargin.targets.problem import Problem
from options import no_options
from reporting import finish

ROWS, FEATURES = 1_000_000, 28
WANTED = {10: 15.0, 100: 10.0, 1000: 4.0}
STEP = 1e-4


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES), dtype=np.float32)
    return X, (X @ rng.standard_normal(FEATURES) + 2 * rng.standard_normal(ROWS) > 0).astype(int)


def ours(X: np.ndarray, y: np.ndarray, batch: int, iterations: int) -> float:
    prior = GaussianBelief(np.zeros(FEATURES), np.ones(FEATURES))
    problem = Problem(DenseSource(X, intercept=False), y, 2, np.ones(ROWS), 1.0, prior)
    sampler = SSGLD(
        step=STEP, batch_size=batch, control_variates=False, preconditioner=None, burn_in=0, thin=1
    )
    chain = sampler.start(problem, spawn_generators(0, 2)).chains[0]
    chain.run(1, 10)
    rates = []
    for _ in range(3):
        began = time.perf_counter()
        chain.run(1, iterations)
        rates.append(iterations / (time.perf_counter() - began))
    return max(rates)


def peer(X: np.ndarray, y: np.ndarray, batch: int, iterations: int) -> float:
    rows, sign = jnp.asarray(X), jnp.asarray(2.0 * y - 1.0, dtype=jnp.float32)

    def gradient(weights, minibatch):
        x, s = minibatch
        active = (1.0 - s * (x @ weights)) > 0
        return (ROWS / batch) * ((s * active) @ x) - weights

    kernel = blackjax.sgld(gradient)

    @jax.jit
    def run(weights, key):
        def body(weights, key):
            pick, noise = jax.random.split(key)
            index = jax.random.randint(pick, (batch,), 0, ROWS)
            step = kernel.step(noise, weights, (rows[index], sign[index]), STEP**2)
            return step, None

        return jax.lax.scan(body, weights, jax.random.split(key, iterations))[0]

    weights = jnp.zeros(FEATURES, dtype=jnp.float32)
    run(weights, jax.random.key(0)).block_until_ready()
    rates = []
    for k in range(3):
        began = time.perf_counter()
        run(weights, jax.random.key(k)).block_until_ready()
        rates.append(iterations / (time.perf_counter() - began))
    return max(rates)


if __name__ == "__main__":
    no_options(__doc__)
    X, y = make_rows()
    table = []
    for batch, wanted in WANTED.items():
        iterations = {10: 100_000, 100: 30_000, 1000: 4_000}[batch]
        mine, theirs = ours(X, y, batch, iterations), peer(X, y, batch, iterations // 4)
        table.append([batch, mine, theirs, mine / theirs, wanted, mine / theirs >= wanted])
    header = ["batch", "ours_per_s", "blackjax_per_s", "ratio", "wanted", "met"]
    finish("iteration_speed", header, table, all(row[-1] for row in table))
