"""
Labels that look wrong
======================

One fit says of each training row what the others make of it. Rows whose own label they find least
likely are worth a second look.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC

# %%
# Handwritten digits, one label in twenty-five changed.

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.choice(len(y), len(y) // 25, replace=False)
given = y.copy()
given[wrong] = (y[wrong] + rng.integers(1, 10, len(wrong))) % 10

model = BayesianLinearSVC(C=0.1, n_draws=300, random_state=0)
model.fit(StandardScaler().fit_transform(X), given)

# %%
# The table that cleanlab wants as ``pred_probs``, without five fits of parts of the rows.

own = model.leave_one_out_proba_[np.arange(len(given)), given]
order = own.argsort()
found = np.isin(order, wrong)
print(f"{found[: len(wrong)].sum()} of the {len(wrong)} changed labels are among the first as many")

# %%
# The rows that come first, with the label they were given.

fig, panels = plt.subplots(2, 6, figsize=(8, 3), layout="constrained")
for row, axes in zip(order, panels.ravel(), strict=False):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axes.set_title(f"given as {given[row]}", fontsize=9)
    axes.axis("off")
plt.show()
