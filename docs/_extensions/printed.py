"""Under every program of a page stands what it prints, from files that ``programs.py`` keeps.

A page whose programs have changed since is run when the site is built (``printed_run = "stale"``),
or is an error of the build (``"never"``, for machines that only build).
"""

from pathlib import Path

import programs
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def output_of(app: Sphinx, page: Path) -> list[str] | None:
    """Kept or fresh output of a page; None, with a warning, when there is none."""
    kept = programs.kept_output(page)
    if kept is not None:
        return kept
    if app.config.printed_run == "never":
        LOGGER.warning(
            "programs changed: run python docs/_extensions/programs.py", location=str(page)
        )
        return None
    try:
        LOGGER.info("running the programs of %s", page)
        return programs.refresh(page)
    except RuntimeError as problem:
        LOGGER.warning("%s", problem, location=str(page))
        return None


def show_output(app: Sphinx, doctree: nodes.document) -> None:
    """Put what is printed behind the programs of a page."""
    page = Path(app.env.doc2path(app.env.docname))
    if page.suffix != ".md":
        return
    found = programs.programs_of(page)
    output = output_of(app, page) if found else None
    if output is None:
        return
    shown = [text for one, text in zip(found, output, strict=True) if one.kind != "given"]
    fenced = (
        n for n in doctree.findall(nodes.literal_block) if n.get("language") in programs.KINDS
    )
    for block, text in zip(list(fenced), shown, strict=True):
        if text:
            below = nodes.literal_block(text, text, language="none", classes=["printed"])
            block.parent.insert(block.parent.index(block) + 1, below)
            block["classes"].append("prints")
    app.env.note_dependency(str(programs.kept_file(page)))


def setup(app: Sphinx):
    """Connect to the build."""
    app.add_config_value("printed_run", "stale", "env", [str])
    app.connect("doctree-read", show_output)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
