r"""
Two experts and a border
========================

A model that the library does not have, made of blocks. Two linear max-margin experts share the
plane; which one a row belongs to is hidden, and a third line, the border, says how likely each is.
All three are sampled by turns, each given the others:

* the expert of every row, from two probabilities;
* two experts, each a linear model of the rows that are its own just now;
* the border, a linear model of which expert the rows belong to.

Hinges are mixtures of Gaussians (Polson and Scott, 2011): with a hidden variance
:math:`\lambda_d` a row,

.. math:: e^{-2 (1 - y_d s_d)_+} =
          \int_0^\infty \frac{1}{\sqrt{2 \pi \lambda}}
          \exp\!\Big(-\frac{(1 - y_d s_d + \lambda)^2}{2 \lambda}\Big)\, d\lambda,

so that given these the weights are normal. Chains, burn-in and Ctrl-C are the library's.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.svm import LinearSVC

from bayesmargin.diagnostics import rhat
from bayesmargin.running.checkpoint import NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps

# %%
# Two clouds. In the left one a falling line tells the classes apart, in the right one a rising one.


def draw(n_rows, rng):
    """Rows with a constant column, and labels -1 and 1."""
    right = rng.random(n_rows) < 0.5
    place = rng.standard_normal((n_rows, 2)) + np.where(right, 2.5, -2.5)[:, None] * [1.0, 0.3]
    near = place - np.where(right, 2.5, -2.5)[:, None] * [1.0, 0.3]
    score = np.where(right, near[:, 1] - near[:, 0], near[:, 1] + near[:, 0])
    label = np.where(score + 0.15 * rng.standard_normal(n_rows) > 0.0, 1.0, -1.0)
    return np.column_stack([place, np.ones(n_rows)]), label


rng = np.random.default_rng(0)
X, y = draw(400, rng)
new, truth = draw(2000, rng)
PRIOR_PRECISION = 0.1

# %%
# One function draws linear weights under hinges; both kinds of lines use it.


def draw_weights(rng, rows, label, weights):
    """Weights of a hinge model of some rows: variances given weights, then weights given these."""
    slack = np.maximum(np.abs(1.0 - label * (rows @ weights)), 1e-9)
    precision = rng.wald(1.0 / slack, 1.0)  # one over lambda
    root = np.linalg.cholesky(
        (rows * precision[:, None]).T @ rows + PRIOR_PRECISION * np.eye(rows.shape[1])
    )
    pull = rows.T @ (label * (1.0 + precision))
    mean = np.linalg.solve(root.T, np.linalg.solve(root, pull))
    return mean + np.linalg.solve(root.T, rng.standard_normal(rows.shape[1]))


def hinge(label, score):
    """Log pseudo-likelihood of labels at their scores."""
    return -2.0 * np.maximum(1.0 - label * score, 0.0)


# %%
# A block has a name and an ``update``; the state is whatever the model makes of it.


class Owners:
    """To which expert each row belongs: -1 or 1."""

    name = "owners"

    def update(self, state, learning):
        odds = np.zeros(len(y))
        for side in (-1.0, 1.0):
            expert = state["experts"][int(side > 0)]
            odds += side * (hinge(y, X @ expert) + hinge(side, X @ state["border"]))
        uniform = state["rng"].random(len(y))
        state["owner"] = np.where(uniform < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)


class Experts:
    """The two lines that tell the classes apart."""

    name = "experts"

    def update(self, state, learning):
        for number, side in enumerate((-1.0, 1.0)):
            own = state["owner"] == side
            old = state["experts"][number]
            state["experts"][number] = draw_weights(state["rng"], X[own], y[own], old)


class Border:
    """The line between the experts, a linear model whose labels are the owners."""

    name = "border"

    def update(self, state, learning):
        state["border"] = draw_weights(state["rng"], X, state["owner"], state["border"])


# %%
# The model lists its blocks, begins a state, and says what is kept. Chains begin with two clusters,
# as those of ``InfiniteSVC`` do: hard hinges hardly let go of the division of the plane that they
# begin with. Experts may swap names between chains; the log pseudo-likelihood, which is watched,
# does not care.


class TwoExperts:
    blocks = (Owners(), Experts(), Border())

    def begin(self, rng):
        cluster = KMeans(2, random_state=int(rng.integers(2**31))).fit_predict(X[:, :2])
        owner = np.where(cluster == 1, 1.0, -1.0)
        return {"rng": rng, "owner": owner, "experts": np.zeros((2, 3)), "border": np.zeros(3)}

    def traces(self, state):
        own = state["experts"][(state["owner"] > 0).astype(int)]
        return {"fit": float(hinge(y, (X * own).sum(axis=1)).sum())}

    def draw(self, state):
        return state["experts"].copy(), state["border"].copy()

    def moving(self, state):
        return state

    resume = moving


chains = [
    Gibbs(TwoExperts(), np.random.default_rng(seed), burn_in=500, keep=range(500, 1500, 10))
    for seed in np.random.SeedSequence(0).spawn(4)
]
run_sweeps(chains, 1500, n_jobs=None, checkpoint=NoCheckpoint(0), show=lambda sweeps: None)

# %%
# A prediction is the mean over draws, and in each of them over the two experts. R-hat far above 1
# says that chains have not met: many divisions of the plane serve these rows, and each chain stays
# with one. Here their mean is what is wanted; whoever reads single borders should not trust them.


def chance_of_one(rows, draws):
    """Probability of the label 1."""
    total = np.zeros(len(rows))
    for experts, border in draws:
        to_right = 1.0 / (1.0 + np.exp(hinge(-1.0, rows @ border) - hinge(1.0, rows @ border)))
        for expert, share in zip(experts, (1.0 - to_right, to_right), strict=True):
            score = rows @ expert
            total += share / (1.0 + np.exp(hinge(-1.0, score) - hinge(1.0, score)))
    return total / len(draws)


draws = [kept for chain in chains for kept in chain.draws]
right = np.mean((chance_of_one(new, draws) > 0.5) == (truth > 0.0))
print(f"one line      {LinearSVC().fit(X, y).score(new, truth):.3f}")
print(f"two experts   {right:.3f}")
fit = np.array([chain.kept("fit") for chain in chains])
print(f"R-hat         {float(rhat(fit)):.3f} of the fit, over {len(chains)} chains")

# %%
# Where the two experts meet nobody is sure.

side = np.linspace(-5.0, 5.0, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
chance = chance_of_one(np.column_stack([grid, np.ones(len(grid))]), draws)
figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
shades = axes.contourf(side, side, chance.reshape(120, 120), np.linspace(0, 1, 11), cmap="RdBu_r")
figure.colorbar(shades, label="probability of the second class")
axes.scatter(*X[:, :2].T, c=np.where(y > 0, "tab:red", "tab:blue"), s=8, edgecolors="white", lw=0.3)
_ = axes.set(xlabel="first feature", ylabel="second feature")
