"""The picture of the README: one answer, how sure it is, and answers that are not linear.

Run: python examples/readme_picture.py [picture.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs, make_moons
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC, InfiniteSVC

COLOURS = np.array(["#b5542b", "#2b5f8a"])
SHADES = "RdBu"
TARGET = "docs/_static/readme.png"


def grid_of(X, margin=1.0, number=200):
    """Points of the plane around the rows, as two matrices."""
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    return np.meshgrid(*(np.linspace(a, b, number) for a, b in zip(low, high, strict=True)))


def scatter(axes, X, y, title):
    axes.scatter(*X.T, c=COLOURS[y], s=16, edgecolors="white", linewidths=0.5, zorder=3)
    axes.set(title=title, xticks=[], yticks=[])


def shade(axes, model, plane):
    """Probability of the second class, by colour."""
    rows = np.column_stack([part.ravel() for part in plane])
    chance = model.predict_proba(rows)[:, 1].reshape(plane[0].shape)
    return axes.contourf(*plane, chance, np.linspace(0, 1, 21), cmap=SHADES, alpha=0.75)


def lines(axes, plane, weights, intercepts, **style):
    """Boundaries, one for each vector of weights."""
    for weight, intercept in zip(weights, intercepts, strict=True):
        score = weight[0] * plane[0] + weight[1] * plane[1] + intercept
        axes.contour(*plane, score, [0.0], **style)


def main() -> None:
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    plain, sure, bent = figure.subplots(1, 3)
    X, y = make_blobs(40, centers=[[-1.2, 0.6], [1.2, -0.6]], cluster_std=1.1, random_state=3)
    plane = grid_of(X)
    model = LinearSVC(loss="hinge", max_iter=100_000, random_state=0).fit(X, y)
    scatter(plain, X, y, "LinearSVC: one boundary")
    lines(plain, plane, model.coef_, model.intercept_, colors="black")
    model = BayesianLinearSVC(random_state=0).fit(X, y)
    scatter(sure, X, y, "BayesianLinearSVC: how sure it is")
    shade(sure, model, plane)
    weights, intercepts = model.posterior_.flat("coef"), model.posterior_.flat("intercept")
    some = np.random.default_rng(0).choice(len(weights), 40, replace=False)
    style = {"colors": "black", "linewidths": 0.5, "alpha": 0.35}
    lines(sure, plane, weights[some], intercepts[some], **style)
    X, y = make_moons(400, noise=0.2, random_state=0)
    plane = grid_of(X, 0.6)
    model = InfiniteSVC(C=3.0, n_chains=2, random_state=0).fit(X, y)
    colours = shade(bent, model, plane)
    scatter(bent, X, y, "InfiniteSVC: experts where they are needed")
    figure.colorbar(colours, ax=bent, label="probability", ticks=[0, 0.5, 1])
    target = sys.argv[1] if len(sys.argv) > 1 else TARGET
    figure.savefig(target, dpi=110)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
