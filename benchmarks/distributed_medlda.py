"""MedLDA on 20 Newsgroups: one machine against two workers, same seed.

    python benchmarks/distributed_medlda.py

Bar: accuracies on the test documents differ by at most one point. (The topics should in fact be
equal bit by bit, which the table shows too.)
"""

import time
from itertools import pairwise

import dask
import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from distributed_tools import workers
from options import no_options
from reporting import finish

HEADER = ["where", "documents", "accuracy", "seconds", "same_topics", "met"]


def main() -> None:
    train = fetch_20newsgroups_counts(subset="train")
    test = fetch_20newsgroups_counts(subset="test")
    X, y = train.data, train.target
    settings = {"n_topics": 50, "n_chains": 1, "random_state": 0}
    began = time.perf_counter()
    alone = MedLDAClassifier(**settings).fit(X, y)
    seconds = [time.perf_counter() - began]
    edges = np.linspace(0, len(y), 9).astype(int)
    parts = [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(edges)]
    with workers(2):
        began = time.perf_counter()
        together = MedLDAClassifier(**settings).fit(parts)
        seconds.append(time.perf_counter() - began)
    accuracy = [float(np.mean(m.predict(test.data) == test.target)) for m in (alone, together)]
    same = bool(np.array_equal(alone.topics_, together.topics_))
    met = abs(accuracy[0] - accuracy[1]) <= 0.01
    table = [
        ["one machine", len(y), accuracy[0], seconds[0], True, True],
        ["two workers", len(y), accuracy[1], seconds[1], same, met],
    ]
    finish("distributed_medlda", HEADER, table, met)


if __name__ == "__main__":
    no_options(__doc__)
    main()
