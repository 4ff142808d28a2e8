"""The display of sweeps: components, R-hat and accuracy over all chains."""

from threading import Lock
from typing import Any

import numpy as np

from bayesmargin.models.infinite_svc.fitting import Problem
from bayesmargin.models.infinite_svc.prediction import predict_draws
from bayesmargin.models.infinite_svc.settings import CALIBRATED
from bayesmargin.models.infinite_svc.trace import Recorder
from bayesmargin.models.mixtures.convergence import rhat_so_far
from bayesmargin.models.watching import Watched
from bayesmargin.running.progress import Progress

LATEST = 5  # draws of a chain that the accuracy is shown for
SHOWN = 10  # times that it is computed in a fit


class SweepDisplay:
    """Hears of every sweep of every chain and shows how the fit goes.

    Parameters
    ----------
    progress : Progress
        Where to show it.
    problem : Problem
        What is sampled.
    n_chains : int
        Chains that will report.
    rows : Watched or None
        Rows to show the accuracy on.
    rule : str
        How the model predicts.
    """

    def __init__(
        self, progress: Progress, problem: Problem, n_chains: int, rows: Watched | None, rule: str
    ) -> None:
        self.progress, self.problem = progress, problem
        self.rule = "probability" if rule == CALIBRATED else rule  # the same classes win
        self.total = n_chains * problem.n_sweeps
        self.rows, self.views = rows, None if rows is None else problem.prepare(rows.X)
        self.recorders: dict[int, Recorder] = {}
        self.accuracy = ""
        self.lock = Lock()

    def __call__(self, recorder: Recorder) -> None:
        """A chain has made another sweep."""
        if not self.progress.shown:
            return
        with self.lock:
            self.recorders[id(recorder)] = recorder
            done = sum(len(one.components) for one in self.recorders.values())
            if self.views is not None and done % max(1, self.total // SHOWN) == 0:
                self.accuracy = self._accuracy()
            parts = [f"{recorder.components[-1]} components", self._settled(), self.accuracy]
            self.progress.update("sweep", done, self.total, "  ".join(filter(None, parts)))

    def _settled(self) -> str:
        """R-hat of the partition, unless no row has moved since burn-in: then it means nothing."""
        kept, chains = slice(self.problem.burn_in, None), self.recorders.values()
        if not any(any(one.moved[kept]) for one in chains):
            return ""
        return rhat_so_far([one.partition[kept] for one in chains])

    def _accuracy(self) -> str:
        draws: list[Any] = [d for one in self.recorders.values() for d in one.draws[-LATEST:]]
        if not draws:
            return ""
        assert self.rows is not None
        assert self.views is not None
        problem = self.problem
        chance = predict_draws(
            self.rule, draws, problem.base, problem.hinge, *self.views, problem.classes,
            np.random.default_rng(0), 1,
        )  # fmt: skip
        return self.rows.accuracy(chance.argmax(axis=1))
