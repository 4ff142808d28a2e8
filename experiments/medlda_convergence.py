"""Topic models: accuracy against documents processed, and F1 against time.

The experiment is ``bayesmargin.experiments.medlda_convergence``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "medlda_convergence", *sys.argv[1:]])
