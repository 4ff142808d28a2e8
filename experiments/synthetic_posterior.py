"""A posterior of two weights: the paper's samplers and ours against quadrature, at equal time.

The experiment is ``bayesmargin.experiments.synthetic_posterior``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "synthetic_posterior", *sys.argv[1:]])
