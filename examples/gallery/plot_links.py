r"""
Overlapping groups behind a network
===================================

People belong to several groups at once. ``MaxMarginLinks`` finds groups that overlap, as many as
the links ask for, and says how probable the links are that nobody has asked about.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from bayesmargin import MaxMarginLinks

# %%
# Ninety people in six circles. Everybody is in one or two, and two people of a circle mostly know
# each other. One pair in five has not been asked. Chains find different features by which the links
# can be explained, and the verdict says so; probabilities are means over all of them.

rng = np.random.default_rng(3)
N_PEOPLE, N_CIRCLES = 90, 6
circles = np.zeros((N_PEOPLE, N_CIRCLES), dtype=int)
for person in range(N_PEOPLE):
    circles[person, rng.choice(N_CIRCLES, rng.integers(1, 3), replace=False)] = 1
together = circles @ circles.T > 0
know = np.triu(rng.random(together.shape) < np.where(together, 0.8, 0.02), 1).astype(float)
asked = np.triu(rng.random(know.shape) < 0.8, 1)
links = np.where(asked, know, np.nan)
links = np.where(np.triu(np.ones_like(know), 1) > 0, links, links.T)
np.fill_diagonal(links, 0.0)

model = MaxMarginLinks(n_sweeps=300, n_chains=6, random_state=0).fit(links)
print(model.diagnostics_)

# %%
# Pairs that nobody has asked about: by the model, and by how many people both know, which goes by
# circles, too, but takes every acquaintance for the same.

pairs = np.argwhere(np.triu(~asked, 1))
truth = know[pairs[:, 0], pairs[:, 1]]
chance = model.predict_proba(pairs)[:, 1]
known = np.nan_to_num(links)
common = (known @ known)[pairs[:, 0], pairs[:, 1]]
for name, score in (("model", chance), ("common acquaintances", common)):
    print(f"area under the curve, {name}: {roc_auc_score(truth, score):.3f}")
print(f"links expected: {chance.sum():.0f}, and there are {truth.sum():.0f}")

# %%
# Left the matrix as it came, dots where nobody asked; in the middle the probabilities, people in
# the order of their features; right how many features there are, in all sweeps.

order = model.order()
figure, (before, after, number) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
shown = np.where(np.isnan(links), 0.4, links)
before.imshow(shown, cmap="magma_r", interpolation="nearest")
before.set_title("links, and pairs not asked about")
chances = model.probability_matrix()[np.ix_(order, order)]
image = after.imshow(chances, cmap="magma_r", vmin=0, vmax=1)
after.set_title("probability of a link")
figure.colorbar(image, ax=after, shrink=0.8)
sizes = model.n_features_.ravel()
values = np.arange(sizes.min(), sizes.max() + 1)
number.bar(values, [(sizes == value).mean() for value in values], color="tab:blue")
number.axvline(N_CIRCLES, color="black", ls=":")
number.set(xlabel="number of features", ylabel="share of sweeps")
for axes in (before, after):
    axes.set(xticks=[], yticks=[])
