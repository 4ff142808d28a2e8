"""Local experts on two moons: how many the data ask for, and where each of them rules.

Run: python examples/infinite_svm_moons.py [picture.png]
"""

import sys

from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.infinite_svc.pictures import plot_co_clustering, plot_regions, plot_sizes


def main() -> None:
    X, y = make_moons(1200, noise=0.2, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = InfiniteSVC(C=3.0, concentration="learn", n_chains=2, random_state=0)
    model.fit(X_train, y_train)
    line = LinearSVC().fit(X_train, y_train)
    print(f"one line      {line.score(X_test, y_test):.3f}")
    print(f"infinite SVM  {model.score(X_test, y_test):.3f}")
    print(f"components    {model.n_components_.mean():.1f} on average")
    print(f"seconds       { {name: round(value, 3) for name, value in model.timings_.items()} }")
    figure = Figure(figsize=(13, 4), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    plot_regions(model, X_train, y_train, axes=first)
    plot_sizes(model, axes=second)
    plot_co_clustering(model, rows=range(300), axes=third)
    target = sys.argv[1] if len(sys.argv) > 1 else "infinite_svm_moons.png"
    figure.savefig(target, dpi=120)
    print(f"picture       {target}")


if __name__ == "__main__":
    main()
