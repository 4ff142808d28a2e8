"""What limits a step of a large head on a GPU: its matrix products, or what lies between them.

    python benchmarks/gpu_step.py [--rows 320000] [--features 1024] [--classes 1000] [--chains 4]

One gradient estimate of all chains from a batch of rows in bfloat16, against its parts: the two
matrix products alone; with the batches copied to where products read them; with the search for the
largest score; with the slopes that come of it. Then the whole estimate with its batch read in
pieces, all chains at once or in turn. Told are milliseconds, the share of the rate that large
products reach, and the memory that the compiled program takes beside its arguments.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import families
from bayesmargin.engines.families import LargestHinges
from bayesmargin.engines.priors import Gaussian
from bayesmargin.engines.programs import program
from bayesmargin.engines.target import Layout, Target, estimated_gradient, pulled, scores_of
from options import command_line
from reporting import finish

HEADER = ("part", "milliseconds", "share of rate", "gigabytes")
PIECES = (1, 2, 5, 10, 25, 50)
LARGE = 8192
WANTED = 0.5


def target_of(n_rows: int, n_features: int, n_classes: int) -> Target:
    """Rows of drawn clusters, with the law of a head before any row has moved."""
    keys = jax.random.split(jax.random.key(0), 4)
    rows = jax.random.normal(keys[0], (n_rows, n_features), jnp.bfloat16)
    label = jax.random.randint(keys[1], (n_rows,), 0, n_classes)
    shape = (n_classes, n_features)
    ones = jnp.ones(n_rows, jnp.float32)
    return Target(
        rows=rows,
        family=LargestHinges(label, jnp.float32(1.0)),
        cost=ones,
        unit=np.float32(1.0),
        prior=Gaussian(np.float32(1.0)),
        precision=np.float32(1.0),
        centre=0.05 * jax.random.normal(keys[2], shape),
        scale=0.01 * jnp.ones(shape),
        reference=jax.random.randint(keys[3], (n_rows,), 0, n_classes),
        base=ones,
        drift=jnp.zeros(shape),
    )


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
    """Milliseconds of a call, the median of several, and gigabytes beside its arguments."""
    compiled = function.lower(*arguments).compile()  # type: ignore[attr-defined]
    jax.block_until_ready(compiled(*arguments))
    found = []
    for _ in range(8):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        found.append(time.perf_counter() - start)
    told = compiled.memory_analysis()
    return 1e3 * float(np.median(found)), 1e-9 * getattr(told, "temp_size_in_bytes", 0)


def parts_of(layout: Layout, n_classes: int) -> dict[str, Callable[..., Any]]:
    """Functions of a target, positions and keys that do more and more of an estimate."""
    size = layout.batch

    def batch(array: Any, key: Any) -> Any:
        first = size * jax.random.randint(key, (), 0, layout.n_batches)
        return jax.lax.dynamic_slice_in_dim(array, first, size)

    def products(target: Any, position: Any, key: Any) -> Any:
        rows = target.rows[:size]
        scores = jax.vmap(lambda w: scores_of(rows, w[None], layout))(position)
        return jax.vmap(lambda s: pulled(rows, s))(scores)

    def copied(target: Any, position: Any, key: Any) -> Any:
        def one(weights: Any, key: Any) -> Any:
            rows = batch(target.rows, key)
            return pulled(rows, scores_of(rows, weights[None], layout))

        return jax.vmap(one)(position, key)

    def chosen(target: Any, position: Any, key: Any) -> Any:
        def one(weights: Any, key: Any) -> Any:
            rows, label = batch(target.rows, key), batch(target.family.label, key)[:, None]
            family = LargestHinges(label, target.family.margin)
            return families.choose(family, scores_of(rows, weights[None], layout))

        return jax.vmap(one)(position, key)

    def sloped(target: Any, position: Any, key: Any) -> Any:
        def one(key: Any) -> Any:
            rows, label = batch(target.rows, key), batch(target.family.label, key)[:, None]
            family = LargestHinges(label, target.family.margin)
            return pulled(
                rows, families.slopes(family, batch(target.reference, key)[:, None], n_classes)
            )

        return jax.vmap(one)(key)

    return {
        "both products, their rows in place": products,
        "both products of copied batches": copied,
        "first product and the search for the largest score": chosen,
        "slopes and the second product": sloped,
    }


def whole_of(layout: Layout) -> Callable[..., Any]:
    """The estimate of a layout, as a function of target, positions and keys."""
    return program(lambda target, *places: estimated_gradient(target, layout, *places))


def main() -> None:
    """Measure the parts, then the whole in pieces."""
    asking = command_line(__doc__)
    asking.add_argument("--rows", type=int, default=320_000)
    asking.add_argument("--features", type=int, default=1024)
    asking.add_argument("--classes", type=int, default=1000)
    asking.add_argument("--chains", type=int, default=4)
    given = asking.parse_args()
    n_chains, shape = given.chains, (given.classes, given.features)
    print(jax.__version__, jax.devices(), flush=True)
    large = LARGE if jax.default_backend() == "gpu" else 256
    matrix = jnp.ones((large, large), jnp.bfloat16)
    product = jax.jit(lambda a: jnp.dot(a, a, preferred_element_type=jnp.float32))
    rate = 2.0 * large**3 / timed(product, matrix)[0]
    target = target_of(given.rows, *shape[::-1])
    layout = Layout(tile=given.rows // 20, n_tiles=20, batch=given.rows // 2, contrasts=True)
    position = jax.random.normal(jax.random.key(1), (n_chains, *shape))
    keys = jax.random.split(jax.random.key(2), n_chains)
    work = 4.0 * n_chains * layout.batch * given.features * given.classes
    rows: list[tuple[Any, ...]] = []

    def tell(name: str, found: tuple[float, float], share: float = 1.0) -> None:
        rows.append((name, found[0], share * work / found[0] / rate, found[1]))
        print(rows[-1], flush=True)

    for name, part in parts_of(layout, given.classes).items():
        tell(
            name,
            timed(program(part), target, position, keys),
            0.5 if "first" in name or "slopes" in name else 1.0,
        )
    for in_turn in (False, True):
        for pieces in PIECES:
            if layout.batch % pieces:
                continue
            cut = replace(layout, pieces=pieces, in_turn=in_turn)
            whole = whole_of(cut)
            name = f"estimate in {pieces} pieces, chains {'in turn' if in_turn else 'at once'}"
            tell(name, timed(whole, target, position, keys))
    best = max(row[2] for row in rows[-2 * len(PIECES) :])
    bounds = [
        {
            "bound": f"an estimate reaches {WANTED} of the rate of large products",
            "measured": f"{best:.2f}",
            "met": best >= WANTED,
        }
    ]
    if given.rows < 100_000:
        print("small sizes: nothing is kept")
        return
    finish("gpu_step", HEADER, rows, best >= WANTED, bounds)


if __name__ == "__main__":
    main()
