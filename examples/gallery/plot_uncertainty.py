"""
How sure is a linear SVM?
=========================

One fit gives the probability of a label, the share of posterior draws that vote for a class, and
the standard deviation of a score. They answer different questions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from bayesmargin import BayesianLinearSVC

# %%
# Two clouds that overlap a little, and few rows: there is doubt of both kinds.

X, y = make_blobs(60, centers=[[-1.2, 0.0], [1.2, 0.6]], cluster_std=1.0, random_state=3)
model = BayesianLinearSVC(random_state=0).fit(X, y)
print(model.diagnostics_)

# %%
# A handful of the separating lines in the posterior. They agree between the clouds and fan out
# where there are no rows.

coef = model.posterior_.flat("coef")
intercept = model.posterior_.flat("intercept")
chosen = np.random.default_rng(0).choice(len(coef), 60, replace=False)
side = np.linspace(-4.5, 4.5, 121)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for k in chosen:
    left.plot(side, -(coef[k, 0] * side + intercept[k]) / coef[k, 1], color="0.4", alpha=0.25)
left.set_title("lines of the posterior")
shades = {
    middle: ("probability of the label", model.predict_proba(grid)[:, 1]),
    right: ("share of votes", model.predict_votes(grid)[:, 1]),
}
for axes, (title, values) in shades.items():
    image = axes.contourf(side, side, values.reshape(121, 121), 10, cmap="RdBu_r", vmin=0, vmax=1)
    axes.set_title(title)
fig.colorbar(image, ax=[middle, right], label="of the red class")
for axes in (left, middle, right):
    axes.scatter(*X.T, c=y, cmap="RdBu_r", edgecolor="k", s=22)
    axes.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), aspect="equal", xlabel="feature 0")
left.set_ylabel("feature 1")

# %%
# The weights themselves have intervals.

print(model.posterior_.summary().round(2))
