"""What the library is for, in one run: a linear SVM that knows how sure it is.

``python -m bayesmargin.demo`` (or ``bayesmargin demo``) fits the breast-cancer data that ship with
scikit-learn, prints accuracy, log loss and calibration beside ``LinearSVC`` and a calibrated one,
and draws the posterior and a reliability curve into the folder ``demo``.
"""

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC
from bayesmargin.calibration.scoring import scores
from bayesmargin.cli.output import Output
from bayesmargin.foundation.types import FloatArray, IntArray

DOUBTFUL = 3  # test rows shown
FIGURES = ("accuracy", "log_loss", "calibration_error")


def run(folder: Path, output: Output) -> dict[str, Any]:
    """Fit, print, draw; what was printed as one document.

    Parameters
    ----------
    folder : Path
        Where the pictures go.
    output : Output
        Who prints.
    """
    data = load_breast_cancer()
    X, X_test, y, y_test = train_test_split(
        data.data, data.target, test_size=0.4, random_state=0, stratify=data.target
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    compared, model = _compare(X, y, X_test, y_test)
    headings = [name.replace("_", " ") for name in ("model", *FIGURES, "seconds")]
    rows = [
        [name, *(f"{found[key]:.3f}" if key in found else "-" for key in FIGURES),
         f"{found['seconds']:.2f}"]
        for name, found in compared.items()
    ]  # fmt: skip
    output.table(headings, rows, title="Breast cancer, 60% for training")
    output.line("(the first fit on a machine includes compilation)\n")
    output.line(f"{model.diagnostics_}\n")
    doubtful = _most_doubtful(model, X_test, y_test)
    output.line("Most doubtful test rows (score, its posterior sd, probability, label):")
    for row in doubtful:
        output.line("  {score:+.2f} ± {sd:.2f}   {probability:.2f}   {label}".format(**row))
    pictures = _draw(folder, model, data) if find_spec("matplotlib") else []
    if pictures:
        output.line(f"\nPictures: {', '.join(map(str, pictures))}")
    else:
        output.line('\nNo pictures without matplotlib: pip install "bayesmargin[plots]"')
    return {
        "models": compared,
        "doubtful": doubtful,
        "trustworthy": model.diagnostics_.trustworthy,
        "pictures": [str(path) for path in pictures],
    }


def _compare(
    X: FloatArray, y: IntArray, X_test: FloatArray, y_test: IntArray
) -> tuple[dict[str, dict[str, float]], Any]:
    """Figures of three models by name, and the last of them."""
    models = {
        "LinearSVC": LinearSVC(loss="hinge", max_iter=100_000, random_state=0),
        "calibrated LinearSVC": CalibratedClassifierCV(LinearSVC(random_state=0)),
        "BayesianLinearSVC": BayesianLinearSVC(random_state=0),
    }
    found: dict[str, dict[str, float]] = {}
    for name, model in models.items():
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        predicted = model.predict(X_test)
        if hasattr(model, "predict_proba"):
            found[name] = scores(y_test, predicted, model.predict_proba(X_test))
        else:
            found[name] = {"accuracy": float(np.mean(predicted == y_test))}
        found[name]["seconds"] = seconds
    return found, model


def _most_doubtful(model: Any, X_test: FloatArray, y_test: IntArray) -> list[dict[str, Any]]:
    """The rows whose score is closest to zero in units of what is known about it."""
    score, sd = model.decision_function(X_test, return_std=True)
    chance = model.predict_proba(X_test)[:, 1]
    return [
        {
            "score": float(score[k]),
            "sd": float(sd[k]),
            "probability": float(chance[k]),
            "label": int(y_test[k]),
        }
        for k in np.argsort(np.abs(score) / sd)[:DOUBTFUL]
    ]


def _draw(folder: Path, model: Any, data: Any) -> list[Path]:
    """The posterior, and how often held-out forecasts come true."""
    from bayesmargin.plots import plot_posterior, plot_reliability

    folder.mkdir(parents=True, exist_ok=True)
    pictures = [folder / "posterior.png", folder / "reliability.png"]
    names = [str(name) for name in data.feature_names]
    plot_posterior(model.posterior_, names=names, path=pictures[0])
    pipeline = make_pipeline(StandardScaler(), BayesianLinearSVC(random_state=0, n_draws=300))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    forecast = cross_val_predict(
        pipeline, data.data, data.target, cv=folds, method="predict_proba"
    )[:, 1]
    plot_reliability(data.target, forecast, path=pictures[1])
    return pictures


if __name__ == "__main__":
    run(Path("demo"), Output())
