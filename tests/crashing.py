"""A fit that ends as by a crash."""

from bayesmargin.running.progress import Silence


class CrashAt(Silence):
    """Raises an error after so many sweeps, for ``watching``."""

    shown = True

    def __init__(self, sweeps):
        self.sweeps = sweeps

    def update(self, stage, done, total, detail):
        if done >= self.sweeps:
            raise RuntimeError("crash")
