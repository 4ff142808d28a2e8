"""
Probabilities that can be taken at their word
=============================================

Reliability curves of the posterior predictive probability and of the share of votes. Votes say how
sure the classifier is, not how likely the label is.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC

X, y = make_classification(6000, 10, n_informative=5, flip_y=0.25, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

model = BayesianLinearSVC(random_state=0).fit(X, y)
rival = CalibratedClassifierCV(LinearSVC()).fit(X, y)
forecasts = {
    "predict_proba": model.predict_proba(X_test)[:, 1],
    "predict_votes": model.predict_votes(X_test)[:, 1],
    "calibrated LinearSVC": rival.predict_proba(X_test)[:, 1],
}

fig, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7")
for name, chance in forecasts.items():
    observed, forecast = calibration_curve(y_test, chance, n_bins=10, strategy="quantile")
    ax.plot(forecast, observed, "o-", label=name)
    print(f"{name:22} log loss {log_loss(y_test, chance):.3f}")
ax.set(xlabel="forecast probability", ylabel="observed frequency", aspect="equal")
ax.legend(frameon=False)
