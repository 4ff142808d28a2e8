"""
Topics that predict labels
==========================

A small corpus made of three themes. Two of them tell the classes apart; the third is in every
document. MedLDA finds all three and learns which matter.
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
# Fit on three quarters, and look at the words.

model = MedLDAClassifier(n_topics=3, random_state=0).fit(counts[:300], y[:300])
print(f"accuracy {model.score(counts[300:], y[300:]):.3f}")
for words, weight in zip(model.top_words(WORDS, n=4), model.coef_[0], strict=True):
    print(f"{weight:8.0f}  {' '.join(words)}")

# %%
# Which class uses which topic.

names = [" ".join(words) for words in model.top_words(WORDS, n=2)]
means = model.class_topics(counts[300:], y[300:])
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
axes = plot_class_topics(means, model.classes_, names, ax=ax)
