"""
Lines that outliers do not bend
===============================

The absolute loss asks how far a value is off and not how far squared, so a few gross errors hardly
move the line. Here it is a likelihood, and the line has a posterior: the library samples any convex
loss that is made of straight pieces.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods import Absolute
from bayesmargin.priors import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import sample
from bayesmargin.samplers import Auto
from bayesmargin.targets.problem import posterior_of

# %%
# Sixty values on a line, eight of which somebody has written down without the decimal point.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 10.0, 60))
y = 1.0 + 0.5 * x + 0.4 * rng.standard_normal(60)
spoilt = rng.choice(np.flatnonzero(x > 6.0), 8, replace=False)
y[spoilt] *= 10.0

# %%
# ``posterior_of`` makes the posterior of a loss: rows, values, a cost for each row and a prior. The
# cost is one over the scale of the errors; a constant column gives the line its intercept.

rows = np.column_stack([x, np.ones_like(x)])
problem = posterior_of(
    Absolute(),
    DenseSource(rows, intercept=False),
    y,
    cost=np.full(60, 2.0),
    prior=GaussianBelief(mean=np.zeros(2), precision=np.full(2, 0.01)),
)
with progress_for(False) as progress:
    run = sample(problem, Auto(), spawn_generators(0, 5), 500, n_jobs=None, progress=progress)
print(run.diagnostics)

slope, intercept = run.weights.reshape(-1, 2).T
squares = np.linalg.lstsq(rows, y, rcond=None)[0]
print(
    f"truth           0.50 x + 1.00\nabsolute loss   {slope.mean():.2f} x + {intercept.mean():.2f}"
)
print(f"least squares   {squares[0]:.2f} x - {-squares[1]:.2f}")

# %%
# The band holds nine tenths of the posterior's lines at every x.

at = np.linspace(0.0, 10.0, 100)
lines = slope[:, None] * at + intercept[:, None]
low, high = np.quantile(lines, [0.05, 0.95], axis=0)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x, y, "o", color="0.6", markersize=4)
axes.plot(x[spoilt], y[spoilt], "o", color="tab:red", markersize=4, label="spoilt values")
axes.plot(at, squares[0] * at + squares[1], "--", color="tab:red", label="least squares")
axes.fill_between(at, low, high, color="tab:blue", alpha=0.3)
axes.plot(at, lines.mean(axis=0), color="tab:blue", label="absolute loss")
axes.set(xlabel="x", ylabel="y", ylim=(-2.0, 30.0))
_ = axes.legend()

# %%
# How wide the band is depends on what is expected of the errors. ``Absolute`` is one loss of many:
# ``EpsilonInsensitive`` forgives small errors, ``Pinball`` looks for a quantile, and a class with
# one method makes another (*Write a part of your own*).
