"""Log loss of ``predict_proba`` beside the strongest peers, from one fit without hold-out.

    python benchmarks/probabilities.py [set ...] [--processes 8] [--C 1] [--prior-scale 1]

Ten sets (``decision_sets.py``), standardised, at most 4,000 training rows; means over 10 random
parts of small sets and 2 of large ones, the same for all. The peers: ``LogisticRegressionCV``
chosen by log loss; ``LinearSVC`` calibrated in five folds by Platt's sigmoid, by a temperature and
by isotonic regression; Venn-ABERS predictors around a logistic regression (five folds); and, on
small sets, a Bayesian logistic regression sampled by NUTS (NumPyro, standard normal prior, 500
draws after 500 of warming up). All other settings are the defaults. ``best`` is the least loss of a
peer on the set; peers differ from set to set. Venn-ABERS and NumPyro are part of the extra
``bench``. With ``--C`` or ``--prior-scale`` (numbers or "auto") ours has another setting than the
default, and nothing is kept.
"""

import os
import warnings
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before JAX is imported, by NumPyro

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC
from venn_abers import VennAbersCalibrator

from bayesmargin import BayesianLinearSVC
from decision_sets import NAMES, SMALL, compile_models, how_many, parts_of, whole_sets
from options import add_sets, command_line
from reporting import finish
from workers import add_processes, spread

FOLDS = 5
BEST_ON, WORST = 7, 1.03
SMALLEST = 1e-6


class VennAbers:
    """Venn-ABERS predictors in the form of an estimator."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "VennAbers":
        base = LogisticRegression(max_iter=2000)
        self.calibrator = VennAbersCalibrator(
            estimator=base, inductive=False, n_splits=FOLDS, random_state=0, shuffle=True
        )
        self.calibrator.fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.calibrator.predict_proba(X))


class Nuts:
    """A logistic regression with standard normal weights, averaged over draws of NUTS."""

    DRAWS = 500

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Nuts":
        count = int(y.max()) + 1

        def model(X: Any, y: Any) -> None:
            law = dist.Normal(0.0, 1.0)
            coef = numpyro.sample("coef", law.expand([X.shape[1], count]).to_event(2))
            end = numpyro.sample("intercept", law.expand([count]).to_event(1))
            numpyro.sample("y", dist.Categorical(logits=X @ coef + end), obs=y)

        chain = MCMC(NUTS(model), num_warmup=self.DRAWS, num_samples=self.DRAWS, progress_bar=False)
        chain.run(jax.random.key(0), jnp.asarray(X), jnp.asarray(y))
        self.draws = {name: np.asarray(value) for name, value in chain.get_samples().items()}
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        coef, end = self.draws["coef"], self.draws["intercept"]
        pairs = zip(coef, end, strict=True)
        return np.mean([softmax(X @ one + other, axis=1) for one, other in pairs], axis=0)


def models(settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ours first, then the peers by their names."""
    found: dict[str, Any] = {
        "ours": BayesianLinearSVC(n_jobs=1, random_state=0, **(settings or {})),
        "logistic": LogisticRegressionCV(scoring="neg_log_loss", cv=FOLDS, max_iter=2000),
    }
    for method in ("sigmoid", "temperature", "isotonic"):
        found[method] = CalibratedClassifierCV(LinearSVC(random_state=0), method=method, cv=FOLDS)
    return {**found, "venn_abers": VennAbers(), "nuts": Nuts()}


def losses(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, settings: dict[str, Any]
) -> list[float]:
    """Log loss of every model; probabilities of zero are lifted, as many peers have them."""
    warnings.simplefilter("ignore")
    classes = np.unique(y)
    result = []
    for name, model in models(settings).items():
        if name == "nuts" and len(y) > SMALL:
            result.append(np.nan)
            continue
        chance = model.fit(X, y).predict_proba(X_test).clip(SMALLEST, 1.0)
        chance /= chance.sum(axis=1, keepdims=True)
        result.append(log_loss(y_test, chance, labels=classes))
    return result


def main() -> None:
    asking = command_line(__doc__)
    add_sets(asking, NAMES)
    add_processes(asking)
    for name in ("C", "prior-scale"):
        asking.add_argument(f"--{name}", type=lambda word: word if word == "auto" else float(word))
    chosen = asking.parse_args()
    names, processes = chosen.sets, chosen.processes
    given = {"C": chosen.C, "prior_scale": chosen.prior_scale}
    settings = {name: value for name, value in given.items() if value is not None}
    warnings.simplefilter("ignore")
    compile_models()
    table: list[list[Any]] = []
    for name, X, y in whole_sets(names):
        parts = ((*part, settings) for part in parts_of(X, y, how_many(y, 10, 2)))
        found = np.array(list(spread(losses, parts, processes)))
        mean = found.mean(axis=0)
        ratio = float(mean[0] / np.nanmin(mean[1:]))
        table.append([name, *map(float, mean), ratio, ratio <= 1.0])
        print(*table[-1], flush=True)
    if settings:
        print(f"with {settings}: nothing is kept")
        return
    ratios = [row[-2] for row in table]
    best = sum(ratio <= 1.0 for ratio in ratios)
    bounds = [
        {
            "bound": f"at most the best peer's loss on {BEST_ON} of {len(NAMES)} sets",
            "measured": f"{best} of {len(table)}",
            "met": best >= BEST_ON,
        },
        {
            "bound": f"at most {WORST} times that on every set",
            "measured": f"{max(ratios):.3f}",
            "met": max(ratios) <= WORST,
        },
    ]
    header = ["set", *models(), "ratio", "met"]
    finish("probabilities", header, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
