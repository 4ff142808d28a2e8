"""
What a kernel machine says where nothing was seen
=================================================

A support vector machine with a kernel draws curved borders. With a sigmoid on top its probabilities
far from all rows are whatever its intercept makes of them. Under a posterior the score of such a
row is as unknown as before the data, and the best forecast is how frequent the classes are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from bayesmargin import BayesianSVC

# %%
# Two moons, of which the upper one has three times as many rows. Nothing is searched: cost, width
# of the kernel and the number of features follow from forecasts of rows left out.

X, y = make_moons((300, 100), noise=0.25, random_state=0)
model = BayesianSVC(random_state=0).fit(X, y)
print(model.profile_)
print(model.diagnostics_)

# %%
# The usual way beside it, with the same cost and width.

svc = SVC(C=model.C_, gamma=model.gamma_)
sigmoid = CalibratedClassifierCV(svc, method="sigmoid").fit(X, y)

# %%
# Far out our probabilities go to the shares of the classes, three quarters and one quarter, in
# every direction, and ``novelty`` tells where that begins.

far = np.array([[30.0, 0.0], [0.0, -30.0], [-30.0, 30.0]])
print("ours   ", model.predict_proba(far)[:, 1].round(2), "novelty", model.novelty(far).round(1))
print("sigmoid", sigmoid.predict_proba(far)[:, 1].round(2))

across, up = np.meshgrid(np.linspace(-5, 6, 150), np.linspace(-4.5, 5, 120))
rows = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), sharey=True)
panels = (
    ("BayesianSVC", model.predict_proba(rows)[:, 1], (0.0, 1.0)),
    ("SVC with a sigmoid", sigmoid.predict_proba(rows)[:, 1], (0.0, 1.0)),
    ("novelty", model.novelty(rows), (None, None)),
)
for axis, (title, values, (low, high)) in zip(axes, panels, strict=True):
    drawn = axis.pcolormesh(
        across, up, values.reshape(across.shape), cmap="coolwarm", vmin=low, vmax=high
    )
    axis.scatter(*X.T, c=y, s=5, cmap="coolwarm", edgecolors="black", linewidths=0.2)
    axis.set_title(title)
    figure.colorbar(drawn, ax=axis)

# %%
# Which rows hold the border? Those that pull, and of these the ones at their kinks, which pull in
# some draws and not in others.

table = model.support()
print(f"{len(table)} of {len(X)} rows pull, {int(table['at_kink'].sum())} of them at their kinks")
strong = table.index[:40]
figure, axis = plt.subplots(figsize=(5.5, 3.8))
axis.scatter(*X.T, c=y, s=8, cmap="coolwarm", alpha=0.4)
axis.scatter(*X[strong].T, s=40, facecolors="none", edgecolors="black", label="pull the most")
axis.contour(across, up, panels[0][1].reshape(across.shape), levels=[0.5], colors="black")
axis.set(xlim=(-2, 3), ylim=(-1.5, 2))
axis.legend()
plt.show()
