"""
An infinite SVM in two dimensions
=================================

No line separates two moons. A mixture of linear experts does, each in a part of the plane, and the
data choose how many there are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.svm import LinearSVC

from bayesmargin import InfiniteSVC
from bayesmargin.models.infinite_svc.pictures import plot_regions, plot_sizes

X, y = make_moons(800, noise=0.2, random_state=0)
train, test = slice(0, 500), slice(500, None)

model = InfiniteSVC(C=3.0, concentration="learn", n_chains=2, random_state=0)
model.fit(X[train], y[train])
print(f"one line      {LinearSVC().fit(X[train], y[train]).score(X[test], y[test]):.3f}")
print(f"infinite SVM  {model.score(X[test], y[test]):.3f}")
print(f"components    {model.n_components_.mean():.1f} on average")

# %%
# Inside each cell of the thin lines one expert of the last draw rules.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
axes = plot_regions(model, X[train], y[train], axes=left)
axes = plot_sizes(model, axes=right)
