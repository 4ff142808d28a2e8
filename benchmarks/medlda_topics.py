"""Accuracy on 20 Newsgroups for 20 to 400 topics: it must not fall as topics are added.

python benchmarks/medlda_topics.py [--topics 20 50 100 200 400] [--chains 3]
"""

import time

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from medlda_tools import report
from options import command_line


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 50, 100, 200, 400])
    parser.add_argument("--chains", type=int, default=None, help="instead of the default")
    options = parser.parse_args()
    numbers = sorted(set(options.topics))
    if len(numbers) < 2:
        parser.error("the fewest topics are compared with more: name two numbers at least")
    train, test = fetch_20newsgroups_counts(), fetch_20newsgroups_counts(subset="test")
    n_chains = options.chains or MedLDAClassifier().n_chains
    rows = []
    for n_topics in numbers:
        start = time.process_time()
        model = MedLDAClassifier(n_topics=n_topics, n_chains=n_chains, random_state=0)
        model.fit(train.data, train.target)
        seconds = time.process_time() - start
        accuracy = model.score(test.data, test.target)
        rows.append(
            {
                "topics": n_topics,
                "chains": n_chains,
                "accuracy": accuracy,
                "processor seconds": seconds,
            }
        )
        print(rows[-1], flush=True)
    first = rows[0]["accuracy"]
    worst = min(rows[1:], key=lambda row: row["accuracy"])
    fall = first - worst["accuracy"]
    verdicts = {
        "accuracy falls by at most 1 point from the fewest topics to more": {
            "met": fall <= 0.01,
            "measured": f"{100 * fall:.1f} points ({first:.4f} with {rows[0]['topics']}, "
            f"{worst['accuracy']:.4f} with {worst['topics']})",
        }
    }
    report("medlda_topics", rows, verdicts)


if __name__ == "__main__":
    main()
