"""``python -m bayesmargin``: the command line."""

from bayesmargin.cli.main import app

if __name__ == "__main__":
    app(prog_name="bayesmargin")
