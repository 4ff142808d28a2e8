"""Writing a report: sections put on one page that needs nothing but a browser."""

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import bayesmargin
from bayesmargin.report.context import VALUES, Context, make_context
from bayesmargin.report.held_values import LEVELS, SHOWN
from bayesmargin.report.markup import Markup, join, number, percent, tag, verdict
from bayesmargin.report.sections import (
    ITEM_SECTIONS,
    SECTIONS,
    VALUE_SECTIONS,
    accuracy,
    diagnostics,
    reliability,
    tables,
    values,
)
from bayesmargin.saving.files import whole_file


def write_report(
    estimator: Any,
    extras: Mapping[str, Any] | str | Path | None = None,
    path: Any = None,
    data: Any = None,
) -> Path:
    """Write one self-contained HTML page about a fitted model.

    The page shows what was fitted, whether the run can be trusted, accuracy, reliability of the
    probabilities, confusions, certain and doubtful rows, the strongest weights, and topics or
    components where the model has them. That of a regression shows errors, whether intervals hold
    what they promise, and the rows farthest off, in the place of accuracy and probabilities. The
    page loads nothing: no network, no other file.

    Parameters
    ----------
    estimator : fitted model of this library
    extras : mapping of str to JSON documents, optional
        What was saved beside the model; names of features are looked for in "feature_names",
        "vocabulary" and "preparation", those of classes in "class_names" and "target_names", as
        lists or arrays. The documents are shown at the end of the first section, shortened. It may
        be left out: ``write_report(model, "report.html")``.
    path : str or path
        File to write; folders on the way are made.
    data : tuple (X, y), or object with ``X`` and ``y``, optional
        Rows that took no part in the fit. ``y`` may be None; ``ids`` and ``texts``, where present
        and not None, name and show the rows. Anything with these attributes will do, for example a
        ``types.SimpleNamespace``.

    Returns
    -------
    pathlib.Path
        Where the page was written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from bayesmargin import BayesianLinearSVC
    >>> from bayesmargin.report import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianLinearSVC(n_draws=200, random_state=0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(model, Path(folder) / "iris.html", data=(X[1::2], y[1::2]))
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if isinstance(extras, str | Path):
        extras, path, data = _sorted_out(extras, path, data)
    if not isinstance(path, str | Path):
        raise TypeError(
            f"path={path!r} is not the name of a file: say where to write the page, for example "
            'write_report(model, "report.html")'
        )
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(
            f"{target} is a folder: give the file to write, for example {target / 'report.html'}"
        )
    documents: Any = extras
    text = page_of(make_context(estimator, documents, data))
    with whole_file(target) as draft:
        # Paths and names of files may hold bytes that are no text.
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    return target


def _sorted_out(place: str | Path, second: Any, data: Any) -> tuple[Any, str | Path, Any]:
    """Extras, path and data of a call whose first argument after the model is the path."""
    if second is None or isinstance(second, Mapping):
        return second, place, data
    if data is None and not isinstance(second, str | Path):
        return None, place, second
    raise TypeError(
        f"write_report(model, {str(place)!r}, {second!r:.40}, ...) has a path where extras belong: "
        "call write_report(model, extras, path, data=(X, y)), with None for no extras"
    )


def page_of(context: Context) -> str:
    """The whole page as text."""
    usual = VALUE_SECTIONS if context.kind == VALUES else SECTIONS
    sections = ITEM_SECTIONS.get(context.kind, usual)
    written = [(section, section.write(context)) for section in sections]
    present = [(section, content) for section, content in written if content]
    title = f"{context.model_name} report"
    links = [tag("a", section.link, href=f"#{section.anchor}") for section, _ in present]
    theme = tag("button", "Light or dark", id="theme", type="button", hidden=True)
    body = tag(
        "body",
        tag("header", tag("h1", title), theme, _cards(context), class_="page"),
        tag("nav", tag("div", *links), aria_label="Sections"),
        tag(
            "main",
            *(
                tag("section", tag("h2", section.heading, id=f"{section.anchor}-heading"), content,
                    id=section.anchor, aria_labelledby=f"{section.anchor}-heading")
                for section, content in present
            ),
        ),
        tag("footer", tag("p", f"Written by bayesmargin {bayesmargin.__version__}.")),
        _script(),
    )  # fmt: skip
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    script = _asset("page.js")
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    # The browser itself refuses anything but our own script and pictures within the page.
    policy = (
        f"default-src 'none'; script-src 'sha256-{seal}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(_asset("style.css"))),
    )


def _script() -> Markup:
    return tag("script", Markup(_asset("page.js")))


def _asset(name: str) -> str:
    return files("bayesmargin.report").joinpath("assets", name).read_text(encoding="utf-8")


def _cards(context: Context) -> Markup:
    """The answers at a glance."""
    good, sentence = diagnostics.summary(context)
    cards = []
    held = context.held_out
    if held is not None and held.truth is not None and len(held.truth) and not held.label_sets:
        right, error = accuracy.headline(held)
        cards.append((f"{percent(right)} ± {percent(error)}", "accuracy on held-out rows"))
        if len(held.known) >= 20:
            calibration, _ = reliability.headline(context, held)
            cards.append((number(calibration), "calibration error of the probabilities"))
    off = context.held_values
    if off is not None and off.truth is not None and len(off.rows):
        away, error = values.headline(off)
        cards.append((f"{number(away)} ± {number(error, 2)}", "mean error on held-out rows"))
        inside = float(off.inside(SHOWN).mean())
        cards.append((percent(inside), f"inside intervals of {percent(LEVELS[SHOWN])}"))
    if context.of_items:
        cards += [(value, name.lower()) for name, value in tables.facts(context)[:-1]]
    else:
        word = "lines" if context.kind == VALUES else "classes"
        cards.append((number(len(context.class_names)), word))
        cards.append((number(context.estimator.n_features_in_), "features"))
    boxes = [tag("div", tag("b", value), tag("span", name), class_="card") for value, name in cards]
    return join([tag("div", *boxes, class_="cards"), verdict(good, sentence)])
