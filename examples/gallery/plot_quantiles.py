"""
Quantiles and where new values lie
==================================

Noise that grows to the right: a line with one width is too wide on the left and too narrow on the
right, a fan of quantiles is neither. Both hold nine new values in ten.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0.0, 1.0, 500)
y = 1.0 + 2.0 * x + (0.1 + x) * rng.standard_normal(500)
models = {
    "a tube": BayesianLinearSVR(C="auto", random_state=0),
    "three quantiles": BayesianQuantileRegressor([0.05, 0.5, 0.95], C="auto", random_state=0),
}

at = np.linspace(0.0, 1.0, 50)[:, None]
figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4))
for axis, (name, model) in zip(axes, models.items(), strict=True):
    low, high = model.fit(x[:, None], y).predict_interval(at, coverage=0.9).T
    axis.scatter(x, y, s=5, color="grey")
    axis.fill_between(at[:, 0], low, high, alpha=0.3)
    axis.set_title(name)
plt.show()
