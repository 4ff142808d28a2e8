"""What the topics show: mean topic proportions of each class, and top words.

The experiment is ``bayesmargin.experiments.topic_view``;
options are those of ``bayesmargin reproduce``.
"""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", "topic_view", *sys.argv[1:]])
