"""Topic models: F1 against time.

The experiment is ``bayesmargin.experiments.medlda_time``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "medlda_time", *sys.argv[1:]])
