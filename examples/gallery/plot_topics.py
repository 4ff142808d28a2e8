"""
Topics that predict labels
==========================

A small corpus made of three themes. Two of them tell the classes apart; the third is in every
document. How hard labels pull at topics is set by ``margin``: where they pull gently, MedLDA finds
all three themes and learns which matter; with the default every class draws the common words into
a topic of its own.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda import plot_class_topics

WORDS = [
    "orbit", "launch", "moon", "rocket", "goal", "team", "season", "coach", "today", "people",
    "really", "think",
]  # fmt: skip
THEMES = np.zeros((3, 12))
for k in range(3):
    THEMES[k, 4 * k : 4 * k + 4] = 0.25

rng = np.random.default_rng(0)
y = rng.choice(["space", "sport"], size=400)
main = np.where(y == "space", 0, 1)
shares = np.full((400, 3), 0.05)
shares[np.arange(400), main] = 0.45
shares[:, 2] = 0.5
counts = csr_matrix(np.stack([rng.multinomial(40, share @ THEMES) for share in shares]))

# %%
# Fit on three quarters, and look at the words. The weight of a topic speaks for sport, or against
# it.

for margin in (1.0, 164.0):  # gentle, and the default
    model = MedLDAClassifier(n_topics=3, margin=margin, sampler="gibbs", random_state=0)
    model.fit(counts[:300], y[:300])
    print(f"margin {margin:g}: accuracy {model.score(counts[300:], y[300:]):.3f}")
    for words, weight in zip(model.top_words(WORDS, n=4), model.coef_[0], strict=True):
        print(f"{weight:8.1f}  {' '.join(words)}")
    if margin == 1.0:
        gentle = model

# %%
# Which class uses which of the topics that were pulled gently.

names = [" ".join(words) for words in gentle.top_words(WORDS, n=2)]
means = gentle.class_topics(counts[300:], y[300:])
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
axes = plot_class_topics(means, gentle.classes_, names, ax=ax)
