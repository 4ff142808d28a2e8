"""Programs on pages: found, run as a reader would run them, and what they print kept in files.

    python docs/_extensions/programs.py [--all] [PAGE ...]

runs the programs of the named pages (of all, when none is named) whose text has changed since their
output was kept, or of each of them with ``--all``. The programs of a page run one after another in
one fresh process and an empty folder. What a page wants of them stands in its Markdown:

* fenced ``python`` and ``bash`` are programs; as in a notebook, a last expression shows its value;
* ``<!-- not run: why -->`` in the line above a program keeps it from running;
* ``<!-- given``, Python, ``-->`` is run in its place, unseen: what a page leaves to its readers;
* a picture of ``_static/pictures/`` that follows a program is drawn by it: the figure it ends with.

A Markdown file outside of ``docs/`` has what a program prints in the ``text`` fence after it.
"""

import argparse
import ast
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
KEPT = DOCS / "printed"
KINDS = ("python", "bash")
LONGEST = 1800  # seconds
COLOURS = 96  # of a picture: a chart needs no more, and a page with pictures stays light

FENCE = re.compile(
    r"^(?:<!-- given\n(?P<given>.*?)^-->$)"
    r"|(?P<skipped>^<!-- not run:[^\n]*-->\n)?^```(?P<kind>python|bash)\n(?P<text>.*?)^```$"
    r"|^!\[[^\]]*\]\((?P<picture>[^)]*_static/pictures/[^)]*)\)",
    re.MULTILINE | re.DOTALL,
)


class Program(NamedTuple):
    """A fenced program, or a hidden one (``kind`` "given")."""

    kind: str
    text: str
    runs: bool
    picture: str | None = None


def programs_of(page: Path) -> list[Program]:
    """Programs of a page in their order, each with the picture that follows it."""
    found: list[Program] = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["picture"]:
            if found and found[-1].picture is None:
                path = (page.parent / match["picture"]).resolve().relative_to(ROOT)
                found[-1] = found[-1]._replace(picture=path.as_posix())
        elif match["given"] is not None:
            found.append(Program("given", match["given"], True))
        else:
            found.append(Program(match["kind"], match["text"], match["skipped"] is None))
    return found


def pages() -> list[Path]:
    """The README and every page of the site that has programs."""
    written = (path for path in DOCS.rglob("*.md") if not {"_build", "generated"} & {*path.parts})
    return [path for path in (ROOT / "README.md", *sorted(written)) if programs_of(path)]


def fingerprint(programs: list[Program]) -> str:
    """Changes whenever the output may: text, order and pictures of what is run."""
    text = "\0".join(f"{one.kind} {one.runs} {one.picture}\n{one.text}" for one in programs)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kept_file(page: Path) -> Path:
    """Where the output of a page is kept."""
    return KEPT / (page.resolve().relative_to(ROOT).as_posix().replace("/", "-")[:-3] + ".json")


def kept_output(page: Path) -> list[str] | None:
    """What the programs of a page print, one text a program; None when they have changed since."""
    programs, file = programs_of(page), kept_file(page)
    if not any(one.runs for one in programs):
        return [""] * len(programs)
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    drawn = all((ROOT / one.picture).exists() for one in programs if one.picture and one.runs)
    return kept["printed"] if kept["programs"] == fingerprint(programs) and drawn else None


def value_of(text: str, names: dict, file: str):
    """Run a program; the value of its last line, if that is an expression."""
    tree = ast.parse(text, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    return last and eval(compile(ast.Expression(last.value), file, "eval"), names)


def keep_picture(figure, path: Path) -> None:
    """Save a figure with few colours, which makes a small file."""
    from PIL import Image

    page = io.BytesIO()
    figure.savefig(page, dpi=110, format="png")
    few = Image.open(page).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    path.parent.mkdir(parents=True, exist_ok=True)
    few.save(path, optimize=True)


def draw(value, path: str | None) -> bool:
    """Save the figure that a program ends with; False where there is none."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = getattr(value, "figure", value)
    if not hasattr(figure, "savefig"):
        if path is None or pyplot is None or not pyplot.get_fignums():
            return False
        figure = pyplot.gcf()
    if path is not None:
        keep_picture(figure, ROOT / path)
    if pyplot is not None:
        pyplot.close("all")
    return True


def run_python(program: Program, names: dict, file: str) -> str:
    """What a program prints, warnings among it, and how its last value looks."""
    printed = io.StringIO()

    def show_warning(message, category, *place, **more):
        print(f"{category.__name__}: {message}", file=printed)

    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show_warning
        value = value_of(program.text, names, file)
        drawn = draw(value, program.picture)
    text = printed.getvalue()
    return text if value is None or drawn else f"{text}{value!r}\n"


def run_bash(program: Program) -> str:
    """What a few lines of shell print."""
    screen = {"TERM": "dumb", "TTY_COMPATIBLE": "1"}  # lines as long as a reader's, no colours
    beside = Path(sys.executable).parent  # the command of this environment, activated or not
    screen["PATH"] = os.pathsep.join([str(beside), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        ["bash", "-e", "-c", program.text], capture_output=True, text=True,
        env={**os.environ, **screen},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{program.text}\n{done.stderr}")
    return done.stdout


def execute(page: Path) -> list[str]:
    """Run the programs of a page in this process and folder; the text that each prints."""
    names: dict = {"__name__": "__main__"}
    result = []
    for number, program in enumerate(programs_of(page)):
        if not program.runs:
            result.append("")
        elif program.kind == "bash":
            result.append(run_bash(program))
        else:
            result.append(run_python(program, names, f"{page.name}, program {number}"))
    tidy = ("\n".join(line.rstrip() for line in text.splitlines()) for text in result)
    return [text.strip("\n") for text in tidy]


def refresh(page: Path) -> list[str]:
    """Run a page in a process of its own and keep what it prints."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    settings = {"COLUMNS": "88", "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(paths)}
    near = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--here", str(page.resolve())]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=LONGEST,
            env={**os.environ, **settings, "PATH": near},
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a program of {page} failed:\n{done.stderr}")
    printed = json.loads(done.stdout)
    KEPT.mkdir(exist_ok=True)
    kept = {"programs": fingerprint(programs_of(page)), "printed": printed}
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    kept_file(page).write_text(text, encoding="utf-8")
    if DOCS not in page.resolve().parents:
        page.write_text(with_output(page, printed), encoding="utf-8")
    return printed


def with_output(page: Path, printed: list[str]) -> str:
    """Text of a page in which the ``text`` fence after each program says what it prints."""
    text, start = page.read_text(encoding="utf-8"), 0
    for program, lines in zip(programs_of(page), printed, strict=True):
        start = text.index(program.text, start) + len(program.text)
        after = re.compile(r"```\n\n```text\n.*?^```$", re.MULTILINE | re.DOTALL).match(text, start)
        if after and lines:
            text = f"{text[:start]}```\n\n```text\n{lines}\n```{text[after.end() :]}"
    return text


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--all", action="store_true", help="also pages whose output is fresh")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(execute(options.pages[0])))
        return
    for page in options.pages or pages():
        if options.all or kept_output(page) is None:
            print(f"running the programs of {page}", flush=True)
            refresh(page)


if __name__ == "__main__":
    main()
