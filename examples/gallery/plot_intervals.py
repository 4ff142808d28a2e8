"""
Do intervals cover?
===================

The hinge is a pseudo-likelihood: ``C`` sets how wide its posterior is. Intervals of
``posterior_.robust()`` hold the weight that infinitely many rows would give as often as they say,
whatever ``C`` is.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from bayesmargin import BayesianLinearSVC

# %%
# A law of rows and labels. What infinitely many rows would give is as good as known from very many.


def rows(seed, count):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 2))
    return X, rng.random(count) < expit(2.0 * X[:, 0] - X[:, 1])


settings = {"prior_scale": 10.0, "n_draws": 250, "n_jobs": 1, "random_state": 0}
truth = BayesianLinearSVC(**settings).fit(*rows(0, 300_000)).coef_[0, 0]

# %%
# Forty samples of 300 rows, and from each the 90% interval of the first weight, as it is sampled
# and robust.

fig, panels = plt.subplots(2, 2, figsize=(9, 7), sharex=True, layout="constrained")
for C, line in zip((0.1, 10.0), panels, strict=True):
    for seed in range(1, 41):
        model = BayesianLinearSVC(C=C, **settings).fit(*rows(seed, 300))
        for posterior, axes in zip(
            (model.posterior_, model.posterior_.robust()), line, strict=True
        ):
            low, high = np.quantile(posterior.flat("coef")[:, 0], [0.05, 0.95])
            inside = low <= truth <= high
            axes.plot([low, high], [seed, seed], color="0.5" if inside else "#c2410c")
            axes.set_title(f"C = {C:g}, {posterior.intervals}")
for axes in panels.ravel():
    axes.axvline(truth, color="k", linewidth=0.8)
    axes.set_yticks([])
for axes in panels[1]:
    axes.set_xlabel("first weight")
fig.suptitle("90% intervals from 40 samples; those that miss the weight are orange")
plt.show()
