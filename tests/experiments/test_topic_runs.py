import numpy as np
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.experiments.topic_runs import TopicRun


def test_a_run_can_be_looked_at_between_minibatches():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    rates = np.full((3, 30), 0.1) + np.kron(np.eye(3), np.ones(10))
    X = sp.csr_matrix(rng.poisson(rates[y]))
    model = MedLDAClassifier(n_topics=4, n_chains=1, batch_size=30, random_state=0)
    run = TopicRun(model, X, y)
    seen, seconds, right = [], [], []
    for _ in run.steps(2):
        scores = run.scores(run.documents)
        right.append(float(np.mean(run.training.code.decide(scores, 0.0) == y)))
        seen.append(run.documents_seen)
        seconds.append(run.watch.seconds)
    run.training.close()
    assert seen[-1] == 240
    assert np.all(np.diff(seen) > 0)
    assert np.all(np.diff(seconds) > 0)
    assert right[-1] > 0.9
