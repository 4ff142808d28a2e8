"""Scale: 1.1 million documents (20 classes, K = 40) drawn from a fitted model, streamed.

    python benchmarks/medlda_scale.py [--documents 1100000] [--threads 1]

A model is fitted to 20 Newsgroups; documents of about 60 words are drawn from it class by class and
go through ``partial_fit``, so that no more than one part is in memory at a time.
"""

import resource
import time
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from bayesmargin.models.medlda.samplers import sampler_of
from medlda_tools import report
from options import command_line

PART, N_WORDS, LENGTH = 10_000, 10_000, 60


class Source:
    """Documents from a fitted model: a class, proportions like those of its class, words."""

    def __init__(self, seed: int) -> None:
        train = fetch_20newsgroups_counts()
        frequent = np.sort(np.argsort(-np.asarray(train.data.sum(axis=0)).ravel())[:N_WORDS])
        counts = train.data[:, frequent]
        model = MedLDAClassifier(n_topics=40, n_chains=1, random_state=0).fit(counts, train.target)
        self.means = model.class_topics(counts, train.target)
        self.cumulative = np.cumsum(model.topics_, axis=1)
        self.rng = np.random.default_rng(seed)

    def draw(self, n_documents: int) -> tuple[sp.csr_matrix, np.ndarray]:
        """Counts and labels of ``n_documents`` fresh documents."""
        rng = self.rng
        y = rng.integers(len(self.means), size=n_documents)
        theta = rng.standard_gamma(10.0 * self.means[y])
        theta /= theta.sum(axis=1, keepdims=True)
        lengths = 1 + rng.poisson(LENGTH, size=n_documents)
        rows = np.repeat(np.arange(n_documents), lengths)
        steps = np.cumsum(theta, axis=1)
        levels = rng.random(rows.size)
        topics = np.minimum((steps[rows] < levels[:, None]).sum(axis=1), theta.shape[1] - 1)
        words = np.empty(rows.size, dtype=np.int64)
        for k in range(theta.shape[1]):
            here = topics == k
            chosen = np.searchsorted(self.cumulative[k], rng.random(here.sum()))
            words[here] = np.minimum(chosen, N_WORDS - 1)
        ones = np.ones(rows.size, dtype=np.int64)
        return sp.csr_matrix((ones, (rows, words)), shape=(n_documents, N_WORDS)), y


def parts(n_documents: int) -> Iterator[int]:
    for start in range(0, n_documents, PART):
        yield min(PART, n_documents - start)


def memory() -> float:
    """Largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--documents", type=int, default=1_100_000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    source = Source(1)
    new, truth = source.draw(5000)
    model = MedLDAClassifier(
        n_topics=40,
        sampler__n_documents=options.documents,
        n_chains=1,
        sampler__batch_size=1000,
        n_jobs=options.threads,
        random_state=0,
    )
    rows, seconds, wall, words, seen = [], 0.0, 0.0, 0, 0
    for i, size in enumerate(parts(options.documents)):
        X, y = source.draw(size)
        begun, busy = time.perf_counter(), time.process_time()
        model.partial_fit(X, y, classes=np.arange(20))
        wall += time.perf_counter() - begun
        seconds += time.process_time() - busy
        words += int(X.sum())
        seen += size
        if i in (0, 4, 19, 49) or seen == options.documents:
            rows.append(
                {
                    "documents": seen,
                    "wall seconds": wall,
                    "processor seconds": seconds,
                    "documents/s": seen / wall,
                    "words/s/core": words * sampler_of(model.sampler).n_sweeps / seconds,
                    "memory MB": memory(),
                    "accuracy": model.score(new, truth),
                }
            )
            print(rows[-1], flush=True)
    growth = rows[-1]["memory MB"] - rows[min(2, len(rows) - 1)]["memory MB"]
    verdicts = {
        "memory does not grow with the documents": {
            "met": growth < 100.0,
            "measured": f"{growth:.0f} MB between {rows[min(2, len(rows) - 1)]['documents']} and "
            f"{seen} documents",
        }
    }
    report("medlda_scale", rows, verdicts)


if __name__ == "__main__":
    main()
