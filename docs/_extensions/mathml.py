"""Formulas as MathML, which browsers draw themselves: the site needs no network and no script."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def formula(node, display):
    """MathML of a math node; a formula that cannot be converted is a warning."""
    latex = " ".join(node.astext().split())
    if display and "\\\\" in latex and "\\begin" not in latex:
        latex = rf"\begin{{aligned}} {latex} \end{{aligned}}"
    try:
        return convert(latex, display="block" if display else "inline")
    except Exception as problem:
        LOGGER.warning("formula %r: %s", latex, problem, location=node)
        return f"<code>{nodes.unescape(latex)}</code>"


def visit_inline(translator, node):
    """A formula in a line."""
    translator.body.append(formula(node, display=False))
    raise nodes.SkipNode


def visit_display(translator, node):
    """A formula of its own, in a box that scrolls when it is wider than the screen."""
    translator.body.append(f'<div class="formula">{formula(node, display=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx):
    """Register the renderer; conf.py chooses it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
