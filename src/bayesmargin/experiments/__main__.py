"""``python -m bayesmargin.experiments NAME``: the command ``bayesmargin reproduce``."""

import sys

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(["reproduce", *sys.argv[1:]])
