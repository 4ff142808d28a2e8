"""
Which label to ask for next
===========================

Labels cost money, rows do not. Draws of the probabilities tell rows where classes overlap, about
which no label teaches anything, from rows that the weights do not know yet.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import entropy
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC

# %%
# Handwritten digits, half of them to judge by. Twenty labels are there at first, forty more may be
# asked for, five at a time.

X, y = load_digits(return_X_y=True)
X = StandardScaler().fit_transform(X)
y = y > 4
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
pool, judge = order[:900], order[900:]


def fit(chosen):
    return BayesianLinearSVC(C=0.1, n_draws=300, random_state=0).fit(X[chosen], y[chosen])


# %%
# What a label would teach is its mutual information with the weights: the entropy of the mean
# probability less the mean entropy of its draws (Bayesian active learning by disagreement, BALD).


def gain(model, rows):
    draws = model.sample_proba(X[rows], 100, random_state=0)
    return entropy(draws.mean(axis=0), axis=1) - entropy(draws, axis=2).mean(axis=0)


def learned(choose):
    chosen, right = list(pool[:20]), []
    for _ in range(9):
        model = fit(chosen)
        right.append(model.score(X[judge], y[judge]))
        rest = np.setdiff1d(pool, chosen)
        chosen += list(choose(model, rest))
    return right


asked = learned(lambda model, rest: rest[np.argsort(-gain(model, rest))[:5]])
chance = np.mean([learned(lambda model, rest: rng.permutation(rest)[:5]) for _ in range(3)], axis=0)

# %%
fig, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
labels = 20 + 5 * np.arange(9)
axes.plot(labels, asked, "o-", color="#c2410c", label="what teaches most")
axes.plot(labels, chance, "o-", color="0.6", label="at random, mean of three")
axes.set(xlabel="labels", ylabel="accuracy on other rows")
axes.legend(frameon=False)
plt.show()
