"""The display of sweeps: components, R-hat and accuracy over all chains."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.models.infinite_svc.fitting import Problem
from bayesmargin.models.infinite_svc.prediction import predict_draws
from bayesmargin.models.infinite_svc.settings import CALIBRATED
from bayesmargin.models.mixtures.convergence import rhat_so_far
from bayesmargin.models.watching import WatchedRows
from bayesmargin.running.gibbs import Gibbs
from bayesmargin.running.progress import Progress

LATEST = 5  # draws of a chain that the accuracy is shown for
SHOWN = 10  # times that it is computed in a fit


class SweepDisplay:
    """Hears how many sweeps the chains have made, and shows how the fit goes.

    Parameters
    ----------
    progress : Progress
        Where to show it.
    problem : Problem
        What is sampled.
    chains : sequence of Gibbs
        Its chains.
    rows : WatchedRows or None
        Rows to show the accuracy on.
    rule : str
        How the model predicts.
    """

    def __init__(
        self,
        progress: Progress,
        problem: Problem,
        chains: Sequence[Gibbs],
        rows: WatchedRows | None,
        rule: str,
    ) -> None:
        self.progress, self.problem, self.chains = progress, problem, chains
        self.rule = "probability" if rule == CALIBRATED else rule  # the same classes win
        self.rows, self.views = rows, None if rows is None else problem.prepare(rows.X)
        self.accuracy, self.due = "", 0.0

    def __call__(self, sweeps: int) -> None:
        """The chains have made so many sweeps."""
        if not self.progress.shown:
            return
        total = self.problem.n_sweeps
        if self.views is not None and sweeps >= self.due:
            self.accuracy, self.due = self._accuracy(), sweeps + total / SHOWN
        number = self.chains[0].traces["components"][-1]
        parts = [f"{number} components", self._settled(), self.accuracy]
        self.progress.update("sweep", sweeps, total, "  ".join(filter(None, parts)))

    def _settled(self) -> str:
        """R-hat of the partition, unless no row has moved since burn-in: then it means nothing."""
        if not any(np.any(chain.kept("moved")) for chain in self.chains):
            return ""
        return rhat_so_far([chain.kept("partition").tolist() for chain in self.chains])

    def _accuracy(self) -> str:
        draws: list[Any] = [draw for chain in self.chains for draw, _ in chain.draws[-LATEST:]]
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
