"""A Bayesian head on embeddings beside what people put there: accuracy, honesty, strangers, time.

    python benchmarks/heads_peers.py [--features FILE] [--engine auto] [--draws 500] [--rows 0]

The messages of 20 Newsgroups as embeddings: those of the static model that the package wordllama
brings (256 numbers) where it is installed, else words by tf-idf, reduced to 384 numbers. With
``--features`` they are kept in a file, or read from it if it is there. Every fourth group is not
taught: its test messages are the strangers that a head should be unsure of. Peers, all linear:
logistic regression, the same after temperature scaling, ten of it on bootstrap samples, and a
Laplace approximation of it (Kronecker factors, probit predictions). A tenth of the training
messages chooses regularisation (and the temperature) for the peers; the Bayesian head has nothing
to choose and learns from these messages as well. Told are accuracy, log loss and calibration error
on test messages of known groups, the area under the curve for strangers by the largest
probability, and by each head's own doubt: the lead over its standard deviation; the gap of scores;
mutual information; the gap over its deviation. Aims: within half a point of the best accuracy, no
worse in log loss than temperature scaling, and no worse than any peer at strangers (1% of the area
is let pass).
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from bayesmargin import BayesianLinearSVC
from bayesmargin.datasets import fetch_20newsgroups_raw
from bayesmargin.errors import BayesmarginWarning
from options import command_line
from reporting import finish

HEADER = (
    "head", "accuracy", "log loss", "calibration error", "strangers, probability",
    "strangers, own doubt", "fit seconds", "predict seconds",
)  # fmt: skip
MEMBERS, BINS = 10, 15
LONGEST = 4000  # characters that are read of a message
ACCURACY, STRANGERS = 0.005, 0.01
CHOICES = (0.01, 0.1, 1.0, 10.0, 100.0)


def embedded(texts: tuple[list[str], list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Features of training and test messages."""
    try:
        import wordllama  # type: ignore[import-not-found]
    except ImportError:
        words = TfidfVectorizer(sublinear_tf=True, min_df=3, max_features=50_000)
        reduced = TruncatedSVD(384, random_state=0)
        train = reduced.fit_transform(words.fit_transform(texts[0]))
        return train, reduced.transform(words.transform(texts[1]))
    home = Path(wordllama.__file__).parent  # the package brings its model
    model = wordllama.WordLlama.load(cache_dir=home, disable_download=True)
    return tuple(model.embed(part) for part in texts)  # type: ignore[return-value]


def data(file: Path | None) -> tuple[np.ndarray, ...]:
    """Features and groups of training messages, then of test messages; features are centred."""
    parts = [fetch_20newsgroups_raw(subset=subset) for subset in ("train", "test")]
    groups = [part.target for part in parts]
    if file is not None and file.exists():
        stored = np.load(file)
        features = stored["train"], stored["test"]
    else:
        features = embedded(tuple([text[:LONGEST] for text in part.data] for part in parts))
        if file is not None:
            half = (part.astype(np.float16) for part in features)
            np.savez_compressed(file, **dict(zip(("train", "test"), half, strict=True)))
    centre = features[0].mean(axis=0, dtype=float)
    train, test = ((part - centre).astype(np.float32) for part in features)
    return train, groups[0], test, groups[1]


Forecast = tuple[np.ndarray, np.ndarray]  # probabilities (row, class), and how sure a head is


def log_loss(y: np.ndarray, chance: np.ndarray) -> float:
    """Mean of minus the logarithm of what was thought of the right class."""
    return float(-np.log(np.maximum(chance[np.arange(len(y)), y], 1e-12)).mean())


def gap(scores: np.ndarray) -> np.ndarray:
    """Largest score of every row less the next one."""
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


class Logistic:
    """Logistic regression, its regularisation chosen on rows kept aside."""

    temperature = 1.0

    def __init__(self, scaled: bool) -> None:
        self.scaled = scaled

    def fit(self, X: np.ndarray, y: np.ndarray, aside: np.ndarray) -> "Logistic":
        """Fit all choices, keep the best."""
        self.X, self.y = X[~aside], y[~aside]
        fits = [LogisticRegression(C=C, max_iter=2000).fit(self.X, self.y) for C in CHOICES]
        losses = [log_loss(y[aside], fit.predict_proba(X[aside])) for fit in fits]
        best = int(np.argmin(losses))
        self.C, self.model = CHOICES[best], fits[best]
        if self.scaled:
            scores = self.model.decision_function(X[aside])

            def loss(log_temperature: float) -> float:
                return log_loss(y[aside], softmax(scores / np.exp(log_temperature), axis=1))

            self.temperature = float(np.exp(minimize_scalar(loss, bounds=(-3, 3)).x))
        return self

    def forecast(self, X: np.ndarray) -> Forecast:
        """Probabilities, and the gap of scores."""
        scores = self.model.decision_function(X) / self.temperature
        return softmax(scores, axis=1), gap(scores)


class Several(Logistic):
    """Logistic regressions of bootstrap samples."""

    def fit(self, X: np.ndarray, y: np.ndarray, aside: np.ndarray) -> "Several":
        """One choice of regularisation for all of them."""
        super().fit(X, y, aside)
        rng, self.members = np.random.default_rng(0), []
        for _ in range(MEMBERS):
            drawn = rng.integers(0, len(self.y), len(self.y))
            member = LogisticRegression(C=self.C, max_iter=2000)
            self.members.append(member.fit(self.X[drawn], self.y[drawn]))
        return self

    def forecast(self, X: np.ndarray) -> Forecast:
        """Mean probabilities, and how much the members agree (less the mutual information)."""
        each = np.array([member.predict_proba(X) for member in self.members])
        mean = each.mean(axis=0)
        entropy = [-(p * np.log(np.maximum(p, 1e-12))).sum(axis=-1) for p in (mean, each)]
        return mean, entropy[1].mean(axis=0) - entropy[0]


class Laplace(Logistic):
    r"""Gaussian around the mode with curvature :math:`A \otimes B + I/C`, in its eigenvectors."""

    def fit(self, X: np.ndarray, y: np.ndarray, aside: np.ndarray) -> "Laplace":
        """Factors of the curvature: second moment of rows, covariance of classes."""
        super().fit(X, y, aside)
        rows = np.column_stack([self.X, np.ones(len(self.X))]).astype(float)
        chance = self.model.predict_proba(self.X)
        classes = np.diag(chance.mean(axis=0)) - chance.T @ chance / len(chance)
        self.of_rows, self.of_classes = np.linalg.eigh(rows.T @ rows), np.linalg.eigh(classes)
        return self

    def forecast(self, X: np.ndarray) -> Forecast:
        """Probit-corrected probabilities, and the gap in units of its standard deviation."""
        rows = np.column_stack([X, np.ones(len(X))]) @ self.of_rows[1]
        spread = 1.0 / (np.outer(self.of_rows[0], self.of_classes[0]) + 1.0 / self.C)
        inner = np.square(rows) @ spread  # variance of every rotated class
        variance = inner @ np.square(self.of_classes[1]).T
        scores = self.model.decision_function(X)
        order = np.argsort(scores, axis=1)[:, -2:]
        away = self.of_classes[1][order[:, 1]] - self.of_classes[1][order[:, 0]]
        deviation = np.sqrt((inner * np.square(away)).sum(axis=1))
        return softmax(scores / np.sqrt(1.0 + np.pi / 8.0 * variance), axis=1), gap(
            scores
        ) / deviation


class Bayesian:
    """The head of this library."""

    def __init__(self, **settings: Any) -> None:
        self.model = BayesianLinearSVC(prior_scale="auto", random_state=0, **settings)

    def fit(self, X: np.ndarray, y: np.ndarray, aside: np.ndarray) -> "Bayesian":
        """Fit all rows: nothing is chosen on some of them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesmarginWarning)
            self.model.fit(X, y)
        print(self.model.posterior_.attrs.get("device", "numba"), self.model.diagnostics_)
        return self

    def forecast(self, X: np.ndarray) -> Forecast:
        """Probabilities, and the lead in units of its standard deviation."""
        lead, deviation = self.model.predict_lead(X, return_std=True)
        return self.model.predict_proba(X), lead / deviation


def calibration_error(chance: np.ndarray, y: np.ndarray) -> float:
    """Difference of the largest probability and the share that is right, in bins of one width."""
    sure, right = chance.max(axis=1), chance.argmax(axis=1) == y
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    off = [abs(np.sum(sure[place == k] - right[place == k])) for k in range(BINS)]
    return float(np.sum(off) / len(y))


def measure(name: str, head: Any, train: Any, test: Any) -> tuple[Any, ...]:
    """A row of the table."""
    X, label, known = test
    began = time.perf_counter()
    head.fit(*train)
    fitted = time.perf_counter()
    chance, sure = head.forecast(X)
    done = time.perf_counter()
    strangers = [roc_auc_score(~known, -doubt) for doubt in (chance.max(axis=1), sure)]
    right = chance[known], label[known]
    row = (
        name, float(np.mean(right[0].argmax(axis=1) == right[1])),
        log_loss(right[1], right[0]),
        calibration_error(*right), *map(float, strangers), fitted - began, done - fitted,
    )  # fmt: skip
    print(dict(zip(HEADER, row, strict=True)), flush=True)
    return row


def main() -> None:
    """Measure all heads."""
    asking = command_line(__doc__)
    asking.add_argument("--features", type=Path)
    asking.add_argument("--engine", default="auto")
    asking.add_argument("--draws", type=int, default=500)
    asking.add_argument("--rows", type=int, default=0, help="training rows, for a quick look")
    given = asking.parse_args()
    X, y, X_test, y_test = data(given.features)
    taught = np.arange(20) % 4 != 3
    code = np.cumsum(taught) - 1
    some = taught[y]
    X, y = X[some], code[y[some]]
    rng = np.random.default_rng(0)
    if given.rows:
        few = rng.choice(len(y), given.rows, replace=False)
        X, y = X[few], y[few]
    aside = rng.random(len(y)) < 0.1
    test = X_test, code[y_test], taught[y_test]
    heads: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: Logistic(scaled=False),
        "with a temperature": lambda: Logistic(scaled=True),
        "ten on bootstrap samples": lambda: Several(scaled=False),
        "Laplace approximation": lambda: Laplace(scaled=False),
        "Bayesian head": lambda: Bayesian(engine=given.engine, n_draws=given.draws),
    }
    rows = [measure(name, head(), (X, y, aside), test) for name, head in heads.items()]
    ours, peers = rows[-1], rows[:-1]
    doubt = max(max(row[4:6]) for row in peers)
    bounds = [
        {"bound": f"accuracy within {ACCURACY} of the best",
         "measured": f"{ours[1]:.3f} beside {max(row[1] for row in peers):.3f}",
         "met": ours[1] >= max(row[1] for row in peers) - ACCURACY},
        {"bound": "log loss no worse than with a temperature",
         "measured": f"{ours[2]:.3f} beside {rows[1][2]:.3f}", "met": ours[2] <= rows[1][2]},
        {"bound": "strangers found no worse than by any peer",
         "measured": f"{max(ours[4:6]):.3f} beside {doubt:.3f}",
         "met": max(ours[4:6]) >= doubt - STRANGERS},
    ]  # fmt: skip
    if given.rows:
        print("some rows alone: nothing is kept")
        return
    print(f"features: {X.shape[1]}, training rows: {len(y)}, test rows: {len(y_test)}")
    finish("heads_peers", HEADER, rows, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
