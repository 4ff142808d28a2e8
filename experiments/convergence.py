"""Accuracy against time: a text problem, HIGGS, and synthetic rows of its shape.

The experiment is ``bayesmargin.experiments.convergence``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "convergence", *sys.argv[1:]])
