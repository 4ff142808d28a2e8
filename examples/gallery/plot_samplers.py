"""
Stochastic samplers against exact Gibbs
=======================================

The default sampler reads a few rows a step; augmentation Gibbs reads all of them and is exact.
Their posteriors should agree, and the bias check should say so without knowing the exact answer.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.samplers import SSGLD

X, y = make_classification(2000, 5, n_informative=4, n_redundant=0, flip_y=0.2, random_state=1)
X = StandardScaler().fit_transform(X)

# %%
# The second SSGLD takes a step that is too large on purpose.

samplers = {
    "exact Gibbs": "gibbs",
    "thermostat (default)": "auto",
    "Langevin, step 0.2": SSGLD(step=0.2),
    "Langevin, step 0.9": SSGLD(step=0.9, burn_in=200, thin=2),
}
draws = {}
for name, sampler in samplers.items():
    # The filter hides the warning about the step that is too large; its figure is printed below.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLinearSVC(sampler=sampler, n_draws=600, random_state=0).fit(X, y)
    found = model.diagnostics_
    draws[name] = model.posterior_.flat("coef")
    print(
        f"{name:22} R-hat {found.max_rhat:.3f}  bias {found.bias:+.3f}  "
        f"trustworthy {found.trustworthy}"
    )

# %%
# R-hat is fine for the last one: chains agree with each other, on something too wide. The bias
# check sees it.

exact = draws.pop("exact Gibbs")
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, values in draws.items():
    error = (values.mean(axis=0) - exact.mean(axis=0)) / exact.std(axis=0)
    ratio = values.std(axis=0) / exact.std(axis=0)
    axes[0].plot(error, "o-", label=name)
    axes[1].plot(ratio, "o-", label=name)
axes[0].axhline(0.0, color="0.6", linewidth=1)
axes[1].axhline(1.0, color="0.6", linewidth=1)
axes[0].set(title="error of the mean, in posterior sd", xlabel="weight", ylim=(-0.5, 0.5))
axes[1].set(title="sd over exact sd", xlabel="weight")
for ax in axes:
    ax.set_xticks(np.arange(5))
axes[1].legend(frameon=False)
