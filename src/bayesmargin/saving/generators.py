"""NumPy's generators as plain numbers, and back: the state, and the seed that spawning needs."""

from typing import Any

import numpy as np

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def generator_to_numbers(value: np.random.Generator, path: str) -> dict[str, Any]:
    """State and seed of a generator as dictionaries of whole numbers; ``path`` names it in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.saving.generators import generator_from_numbers, generator_to_numbers
    >>> rng = np.random.default_rng(7)
    >>> again = generator_from_numbers(generator_to_numbers(rng, "rng"))
    >>> bool(again.random() == rng.random())
    True
    """
    state = value.bit_generator.state
    if state["bit_generator"] not in BIT_GENERATORS:
        raise TypeError(f"{path} uses the bit generator {state['bit_generator']}, not a NumPy's")
    seed = value.bit_generator.seed_seq
    origin = None
    if isinstance(seed, np.random.SeedSequence):
        entropy: Any = seed.entropy
        origin = {
            "entropy": [int(e) for e in entropy] if np.ndim(entropy) else entropy,
            "spawn_key": [int(k) for k in seed.spawn_key],
            "pool_size": seed.pool_size,
            "n_children_spawned": seed.n_children_spawned,
        }
    return {"state": _in_python(state), "seed": origin}


def generator_from_numbers(found: Any) -> np.random.Generator:
    """The generator that :func:`generator_to_numbers` has taken apart."""
    state, seed = _in_arrays(found["state"]), found["seed"]
    name = state["bit_generator"]
    if name not in BIT_GENERATORS:
        raise ValueError(f"{name!r} is not a bit generator")
    origin = None
    if seed is not None:
        origin = np.random.SeedSequence(
            seed["entropy"],
            spawn_key=tuple(seed["spawn_key"]),
            pool_size=min(64, seed["pool_size"]),
            n_children_spawned=seed["n_children_spawned"],
        )
    bits = getattr(np.random, name)(origin)
    bits.state = state
    return np.random.Generator(bits)


def _in_python(state: Any) -> Any:
    """State of a bit generator with arrays as lists of whole numbers."""
    if isinstance(state, dict):
        return {name: _in_python(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return [int(item) for item in state]
    return int(state) if isinstance(state, np.integer) else state


def _in_arrays(state: Any) -> Any:
    """State of a bit generator with lists as the arrays that NumPy asks for."""
    if not isinstance(state, dict):
        return np.array(state, dtype=np.uint64) if isinstance(state, list) else state
    return {name: _in_arrays(value) for name, value in state.items()}
