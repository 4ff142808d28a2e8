"""A fit that ends as by a crash."""

from bayesmargin.running.checkpoint import Checkpoint
from bayesmargin.running.progress import Silence


class CrashAt(Silence):
    """Raises an error after so many sweeps, for ``watching``."""

    shown = True

    def __init__(self, sweeps):
        self.sweeps = sweeps

    def update(self, stage, done, total, detail):
        if done >= self.sweeps:
            raise RuntimeError("crash")


class Killed(BaseException):
    """Stands for a crash."""


def kill_after(monkeypatch, n_writes):
    """Crash right after so many checkpoints; returns what counts them."""
    count = [0]
    write = Checkpoint.write

    def counted(self, *args):
        write(self, *args)
        count[0] += 1
        if count[0] == n_writes:
            raise Killed

    monkeypatch.setattr(Checkpoint, "write", counted)
    return count
