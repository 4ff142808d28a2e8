"""Topic models: accuracy against documents processed.

The experiment is ``bayesmargin.experiments.medlda_documents``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "medlda_documents", *sys.argv[1:]])
