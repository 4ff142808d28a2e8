"""AdaGrad against polynomially decaying steps: SSGLD on HIGGS.

The experiment is ``bayesmargin.experiments.adagrad``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "adagrad", *sys.argv[1:]])
