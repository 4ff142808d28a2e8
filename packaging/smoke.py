"""An installed package works without its checkout: import, fit, save, predict and report.

``python packaging/smoke.py`` runs in an environment that has the package and nothing else, from any
folder but the checkout. It asks what an installation can break: files that were not packed, a
program that was not installed, a dependency that was not declared.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

CSV = "\n".join(
    ["age,tenure,churned"]
    + [f"{20 + k % 50},{k % 7},{'yes' if k % 50 + 5 * (k % 7) > 40 else 'no'}" for k in range(200)]
)


def run(*words: str) -> str:
    """Stdout of a command of the installed program."""
    program = Path(sysconfig.get_path("scripts")) / "bayesmargin"
    done = subprocess.run(
        [str(program), *words], check=True, capture_output=True, text=True, encoding="utf-8"
    )
    return done.stdout


def main() -> None:
    """Run everything in an empty folder."""
    import bayesmargin

    home = Path(bayesmargin.__file__).parent
    assert "site-packages" in home.parts, f"the package of {home} is not an installed one"
    assert bayesmargin.__version__ == version("bayesmargin")
    assert (home / "py.typed").exists()
    os.environ.setdefault("BAYESMARGIN_CACHE", str(Path.cwd() / "cache"))
    assert run("--version").split() == ["bayesmargin", bayesmargin.__version__]
    Path("rows.csv").write_text(CSV, encoding="utf-8")
    fit = ("fit", "rows.csv", "--target", "churned", "--draws", "100", "-o", "model", "--json")
    document = json.loads(run(*fit))
    assert document["validation"]["accuracy"] > 0.8, document
    run("predict", "model", "rows.csv", "-o", "answers.csv", "--quiet")
    assert len(Path("answers.csv").read_text(encoding="utf-8").splitlines()) == 201
    run("report", "model", "-o", "page.html", "--quiet")
    assert "<svg" in Path("page.html").read_text(encoding="utf-8")
    model = bayesmargin.load("model")
    assert model.posterior_.to_arviz().posterior["coef"].dims == ("chain", "draw", "feature")
    assert len(model.posterior_.summary()) == 3
    print(f"bayesmargin {bayesmargin.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        main()
        os.chdir(sys.prefix)
