"""How the defaults of MedLDA were chosen: accuracy on training documents held out, never on test.

    python benchmarks/medlda_search.py [--set alpha=0.2 beta=0.05] [--folds 3] [--chains 2]

Every ``--set`` names one setting of :class:`MedLDAClassifier` to try (changes to the defaults;
without any, the list ``TRIED`` below). 20 Newsgroups comes in the order of time within a class, and
its test documents are later than the training documents: a fold holds out one *contiguous* fifth of
every class, so that threads of discussion are not cut through as in a random split. Rows are added
to ``results/medlda_search.json``; settings found there with as many folds are not run again.
"""

import ast
import json
import time
from typing import Any

import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from bayesmargin.models.medlda.documents import check_counts, keep_words, to_documents
from bayesmargin.models.medlda.parameters import PASSES, TOTAL_ALPHA
from bayesmargin.models.medlda.prediction import infer
from bayesmargin.models.medlda.settings import TOPIC_DECAY
from options import command_line
from reporting import RESULTS, print_table

# Order in which the fifths are held out: the latest first.
FIFTHS = (4, 2, 0, 3, 1)
TRIED: list[dict[str, Any]] = [
    {},
    {"multi_class": "crammer_singer", "sampler__weights__step": 0.5},
    *({"alpha": alpha} for alpha in (0.1, 0.5, 1.0)),
    *({"beta": beta} for beta in (0.02, 0.05, 0.2)),
    {"prior_scale": 3},
    {"sampler__weights__step": 0.1414},
    *({"C": cost} for cost in (0.3, 3)),
    *({"margin": margin} for margin in (64, 400)),
    {"sampler__n_sweeps": 10},
    {"n_draws": 20},
    *({"sampler__n_passes": n_passes} for n_passes in (3, 10)),
]
# What the settings tried are changes to.
BASE = f"alpha={TOTAL_ALPHA:.0f}/K n_passes={PASSES['ssgrld']} decay={TOPIC_DECAY}"


def hold_out(y: np.ndarray, fifth: int) -> np.ndarray:
    """Mask of the documents in one contiguous fifth of every class."""
    held = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        edges = np.linspace(0, len(members), 6).astype(int)
        held[members[edges[fifth] : edges[fifth + 1]]] = True
    return held


def judge(settings: dict[str, Any], fifth: int, n_chains: int, data: Any) -> dict[str, float]:
    """Accuracy on one fold: one draw, one chain, all chains together."""
    held = hold_out(data.target, fifth)
    start = time.process_time()
    model = MedLDAClassifier(**{"n_chains": n_chains, "random_state": fifth, **settings})
    model.fit(data.data[~held], data.target[~held])
    fitted = time.process_time()
    truth, training = data.target[held], model._training
    documents = to_documents(check_counts(data.data[held], "search"))
    documents = keep_words(documents, training.known)
    total, single, one = 0.0, [], []
    for learner in training.learners:
        seen: dict[int, Any] = {}
        posterior, alpha = learner.posterior, training.resolved.alpha
        n_draws = len(posterior.topics)
        _, scores = infer(
            posterior,
            documents,
            alpha,
            0,
            n_draws,
            1,
            lambda d, shares: seen.update({d: shares}),  # noqa: B023
        )
        last = seen[n_draws - 1] @ posterior.coef[-1].T
        one.append(np.mean(last.argmax(axis=1) == truth))
        single.append(np.mean(scores.argmax(axis=1) == truth))
        total = total + scores
    return {
        "one draw": float(np.mean(one)),
        "one chain": float(np.mean(single)),
        "together": float(np.mean(np.argmax(total, axis=1) == truth)),
        "fit seconds": fitted - start,
        "predict seconds": time.process_time() - fitted,
    }


def parse(text: list[str]) -> dict[str, Any]:
    """``["alpha=0.2"]`` as keyword arguments."""
    pairs = dict(part.split("=") for part in text)
    values: dict[str, Any] = {}
    for key, value in pairs.items():
        try:
            values[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            values[key] = value
    return values


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--set", nargs="*", action="append", default=[])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--chains", type=int, default=2)
    options = parser.parse_args()
    data = fetch_20newsgroups_counts()
    file = RESULTS / "medlda_search.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    for settings in [parse(text) for text in options.set] or TRIED:
        name = " ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"
        key = {"base": BASE, "settings": name, "folds": options.folds, "chains": options.chains}
        if any(key.items() <= row.items() for row in rows):
            continue
        folds = [judge(settings, fifth, options.chains, data) for fifth in FIFTHS[: options.folds]]
        rows.append({**key, **{k: float(np.mean([f[k] for f in folds])) for k in folds[0]}})
        print(rows[-1], flush=True)
        file.write_text(json.dumps({"name": "medlda_search", "rows": rows}, indent=1) + "\n")
    print_table(list(rows[0]), [list(row.values()) for row in rows])


if __name__ == "__main__":
    main()
