"""Sensitivity to the batch size: SSGLD and SSGNHT on the text problem and on HIGGS.

The experiment is ``bayesmargin.experiments.batch_size``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "batch_size", *sys.argv[1:]])
