"""The table of the infinite SVM: our columns beside the printed ones.

The experiment is ``bayesmargin.experiments.infinite_svm_table``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "infinite_svm_table", *sys.argv[1:]])
