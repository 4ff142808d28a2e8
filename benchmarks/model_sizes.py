"""What each model of tables added: files and lines of its folder, and places outside of it.

    python benchmarks/model_sizes.py

"code" are lines that are not empty, nor docstrings, comments or imports; "estimator" are those of
the public class, parameters included. "places" are files of the package outside of the folder that
name the model's class or import from its folder: where somebody who takes it out has to look.
"""

import ast
import io
import tokenize
from pathlib import Path

from options import command_line
from reporting import finish

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "bayesmargin"
MODELS = {
    "crowd": "MaxMarginVoting",
    "ratings": "MaxMarginFactorization",
    "links": "MaxMarginLinks",
}
SKIPPED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
MOST_CODE, MOST_PLACES = 400, 1


def lines_of(node):
    """Numbers of the lines of a part of a file."""
    return set(range(node.lineno, node.end_lineno + 1))


def code_of(text):
    """Numbers of the lines of code, and of those in a public class that can be fitted."""
    tree, left_out, found = ast.parse(text), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= lines_of(node)
        holds_words = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if holds_words and ast.get_docstring(node, clean=False) is not None:
            left_out |= lines_of(node.body[0])
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            found |= set(range(token.start[0], token.end[0] + 1))
    code, own = found - left_out, set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in MODELS.values():
            own = code & lines_of(node)
    return code, own


def row_of(folder, name):
    """Sizes of one model."""
    files = sorted((PACKAGE / "models" / folder).glob("*.py"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    counts = [code_of(text) for text in texts]
    others = [file for file in PACKAGE.rglob("*.py") if file not in files]
    words = name, f"bayesmargin.models.{folder}"
    places = [
        str(file.relative_to(PACKAGE))
        for file in sorted(others)
        if any(word in file.read_text(encoding="utf-8") for word in words)
    ]
    code, own = (sum(len(part[k]) for part in counts) for k in range(2))
    lines = sum(len(text.splitlines()) for text in texts)
    return [name, len(files), lines, code, own, len(places), ", ".join(places)]


def main():
    """The table, and the goals."""
    command_line(__doc__).parse_args()
    rows = [row_of(folder, name) for folder, name in MODELS.items()]
    bounds = [
        {"bound": f"{row[0]}: at most {most} {what}", "measured": str(found), "met": found <= most}
        for row in rows
        for most, what, found in (
            (MOST_CODE, "lines of code beside the estimator's", row[3] - row[4]),
            (MOST_PLACES, "place outside of its folder", row[5]),
        )
    ]
    header = ("model", "files", "lines", "code", "estimator", "places", "where")
    finish("model_sizes", header, rows, all(one["met"] for one in bounds), bounds)


if __name__ == "__main__":
    main()
