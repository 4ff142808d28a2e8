"""What the library is for, in one run: a linear SVM that knows how sure it is.

Fits the breast-cancer data that ship with scikit-learn, prints accuracy, log loss and calibration
beside ``LinearSVC`` and a calibrated one, and draws the posterior and a reliability curve.
"""

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC
from bayesmargin.plots import plot_posterior, plot_reliability

FOLDER = Path("demo")


def calibration_error(y, probability, bins=10):
    """Mean distance between forecast and frequency, weighted by the rows in each bin."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    parts = [place == k for k in range(bins)]
    return sum(
        part.sum() * abs(probability[part].mean() - y[part].mean()) for part in parts if part.any()
    ) / len(y)


def compare(X, y, X_test, y_test):
    """Fit the three models and collect what is printed."""
    rows, fitted = [], {}
    models = {
        "LinearSVC": LinearSVC(loss="hinge", max_iter=100_000, random_state=0),
        "calibrated LinearSVC": CalibratedClassifierCV(LinearSVC(random_state=0)),
        "BayesianLinearSVC": BayesianLinearSVC(random_state=0),
    }
    for name, model in models.items():
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        row = [name, f"{accuracy_score(y_test, model.predict(X_test)):.3f}", "-", "-"]
        if hasattr(model, "predict_proba"):
            probability = model.predict_proba(X_test)[:, 1]
            row[2] = f"{log_loss(y_test, probability):.3f}"
            row[3] = f"{calibration_error(y_test, probability):.3f}"
        rows.append([*row, f"{seconds:.2f}"])
        fitted[name] = model
    return rows, fitted["BayesianLinearSVC"]


def main():
    """Fit, print, draw."""
    console = Console()
    data = load_breast_cancer()
    X, X_test, y, y_test = train_test_split(
        data.data, data.target, test_size=0.4, random_state=0, stratify=data.target
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    rows, model = compare(X, y, X_test, y_test)

    table = Table(title="Breast cancer, 60% for training")
    for column in ("model", "test accuracy", "log loss", "calibration error", "seconds"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print("(the first fit on a machine includes compilation)\n")
    console.print(str(model.diagnostics_), "\n")

    scores, deviation = model.decision_function(X_test, return_std=True)
    doubtful = np.argsort(np.abs(scores) / deviation)[:3]
    console.print("Most doubtful test rows (score, its posterior sd, probability, label):")
    for k in doubtful:
        chance = model.predict_proba(X_test[k : k + 1])[0, 1]
        console.print(f"  {scores[k]:+.2f} ± {deviation[k]:.2f}   {chance:.2f}   {y_test[k]}")

    FOLDER.mkdir(exist_ok=True)
    names = [str(name) for name in data.feature_names]
    plot_posterior(model.posterior_, names=names, path=FOLDER / "posterior.png")
    pipeline = make_pipeline(StandardScaler(), BayesianLinearSVC(random_state=0, n_draws=300))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    forecast = cross_val_predict(
        pipeline, data.data, data.target, cv=folds, method="predict_proba"
    )[:, 1]
    plot_reliability(data.target, forecast, path=FOLDER / "reliability.png")
    console.print(f"\nPictures: {FOLDER / 'posterior.png'}, {FOLDER / 'reliability.png'}")


if __name__ == "__main__":
    main()
