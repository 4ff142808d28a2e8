"""
Probabilities that can be taken at their word
=============================================

Reliability curves of the posterior predictive probability and of the share of votes. Votes say how
sure the classifier is, not how likely the label is.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC
from bayesmargin.report.sections.reliability import curve_of

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
    curve = curve_of(chance, y_test.astype(float))
    ax.plot(curve.forecast, curve.observed, "o-", label=name)
    loss = log_loss(y_test, chance)
    print(f"{name:22} log loss {loss:.3f}  calibration error {curve.calibration_error:.3f}")
ax.set(xlabel="forecast probability", ylabel="observed frequency", aspect="equal")
ax.legend(frameon=False)
