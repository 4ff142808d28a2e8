"""Seconds of the parts of a fit of the array engine."""

import importlib
import time
from typing import Any

import jax


class Stopwatch:
    """Seconds of functions of the engine while they are watched, and transitions of chains."""

    PLACES = (
        ("bayesmargin.engines.samplers", "arrive"),
        ("bayesmargin.engines.samplers", "whiten"),
        ("bayesmargin.engines.samplers", "batch_for"),
        ("bayesmargin.engines.crew", "record"),
        ("bayesmargin.models.linear.training", "calibrate"),
        ("bayesmargin.models.linear.training", "adjust"),
    )

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.transitions: list[int] = []
        for module, name in self.PLACES:
            self._watch(importlib.import_module(module), name)

    def _watch(self, module: Any, name: str) -> None:
        function = getattr(module, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            found = jax.block_until_ready(function(*arguments, **options))
            self.seconds.setdefault(name, []).append(time.perf_counter() - start)
            if name == "record":
                self.transitions.append(int(arguments[6]) * int(arguments[7]))
            return found

        setattr(module, name, watched)

    def told(self) -> dict[str, Any]:
        """Seconds by function, the first call of chains apart, and milliseconds a transition."""
        facts: dict[str, Any] = {name: sum(times) for name, times in self.seconds.items()}
        rounds = self.seconds.get("record", [])
        if len(rounds) > 2:
            facts["first_round"] = rounds[0]
            facts["ms_a_transition"] = 1e3 * sum(rounds[2:]) / max(1, sum(self.transitions[2:]))
        self.seconds, self.transitions = {}, []
        return {name: round(value, 4) for name, value in facts.items()}
