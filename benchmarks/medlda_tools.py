"""What the MedLDA benchmarks share: a fit that can be looked at between minibatches."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesmargin import MedLDAClassifier
from bayesmargin.foundation.threads import N_SHARES, n_threads
from bayesmargin.models.medlda.documents import Documents, check_counts, to_documents
from bayesmargin.models.medlda.labels import learn_code
from bayesmargin.models.medlda.lessons import minibatches
from bayesmargin.models.medlda.parameters import Plan, check_parameters, resolve
from bayesmargin.models.medlda.training import Training
from reporting import finish

# Idle threads of the linear algebra spin, which would count as processor seconds of the baselines.
threadpool_limits(1)


@dataclass
class Run:
    """A fit that stops between minibatches (sweeps) for a look; looks are not on the clock.

    Seconds are processor seconds of this process: with one thread they are the time on an idle
    machine, and other programs on a busy one do not change them.
    """

    model: MedLDAClassifier
    X: Any
    y: np.ndarray
    seconds: float = 0.0
    documents_seen: int = 0
    plan: Plan = field(init=False)
    training: Training = field(init=False)

    def __post_init__(self) -> None:
        code = learn_code(self.y)
        model = self.model
        model.n_features_in_ = self.X.shape[1]
        self.signs = code.signs(self.y)
        plan = self.plan = check_parameters(model)
        resolved = resolve(plan, code.n_classifiers, self.X.shape[0], self.signs)
        threads = n_threads(model.n_jobs, N_SHARES)
        self.training = Training(plan, resolved, code, self.X.shape[1], threads)
        self.documents = to_documents(check_counts(self.X, "run"))

    def steps(self, n_passes: int) -> Iterator[int]:
        """Yield after every minibatch (sweep for "gibbs") how many there were."""
        plan, n_documents = self.plan, self.documents.n_documents
        start = time.process_time()
        self.training.start(plan, self.documents, self.signs)
        self.seconds += time.process_time() - start
        if plan.method == "gibbs":
            steps: Any = [np.arange(n_documents)] * n_passes
        else:
            steps = minibatches(n_documents, plan.batch_size, n_passes, self.training.order, 1)
        for step, chosen in enumerate(steps, start=1):
            start = time.process_time()
            self.training.learn(self.documents, self.signs, chosen, n_documents)
            self.seconds += time.process_time() - start
            self.documents_seen += len(chosen)
            yield step

    def accuracy(self, documents: Documents, labels: np.ndarray, draws: int | None = None) -> float:
        """Test accuracy of the averaged scores so far."""
        _, scores = self.training.infer(documents, draws)
        return float(np.mean(self.training.code.decide(scores, 0.0) == labels))


def warm_up(model: MedLDAClassifier, X: Any, y: Any) -> None:
    """Compile everything on a few documents, so that no clock sees the compiler."""
    copy = MedLDAClassifier(**{**model.get_params(), "sampler__n_passes": 1, "n_draws": 2})
    rows = np.unique(np.concatenate([np.arange(60), np.unique(y, return_index=True)[1]]))
    copy.fit(X[rows], y[rows])
    copy.predict(X[:10])


def report(name: str, rows: list[dict[str, Any]], verdicts: dict[str, dict[str, Any]]) -> None:
    """Table, bounds and verdict of rows that share their keys."""
    bounds = [{"bound": text, **verdict} for text, verdict in verdicts.items()]
    met = bool(verdicts) and all(verdict["met"] for verdict in verdicts.values())
    finish(name, list(rows[0]), [list(row.values()) for row in rows], met, bounds)
