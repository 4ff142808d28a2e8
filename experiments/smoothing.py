"""Polynomial smoothing: an energy with two kinks and its smoothed versions.

The experiment is ``bayesmargin.experiments.smoothing``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "smoothing", *sys.argv[1:]])
