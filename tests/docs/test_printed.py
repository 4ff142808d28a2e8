"""What pages show as the output of their programs belongs to the programs as they are written."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import bayesmargin
from bayesmargin.datasets import DataNotFoundError

CHECKOUT = Path(bayesmargin.__file__).parents[2]
FILE = CHECKOUT / "docs" / "_extensions" / "programs.py"
if not FILE.exists():
    pytest.skip("the documentation is not part of an installed package", allow_module_level=True)

spec = importlib.util.spec_from_file_location("programs", FILE)
programs = importlib.util.module_from_spec(spec)
sys.modules["programs"] = programs
spec.loader.exec_module(programs)
THE_SAME = {"README.md"}  # its program is that of docs/index.md
PAGES = [page.relative_to(CHECKOUT).as_posix() for page in programs.pages()]


@pytest.mark.parametrize("page", PAGES)
def test_output_belongs_to_the_programs_of_the_page(page):
    output = programs.kept_output(CHECKOUT / page)
    assert output is not None, "run: python docs/_extensions/programs.py"
    assert len(output) == len(programs.programs_of(CHECKOUT / page))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in THE_SAME])
def test_page_with_output_still_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(programs, "keep_picture", lambda figure, path: None)
    try:
        printed = programs.execute(CHECKOUT / page)
    except DataNotFoundError as missing:
        pytest.skip(str(missing).partition("\n")[0])
    shown = programs.kept_output(CHECKOUT / page)
    assert [bool(text) for text in printed] == [bool(text) for text in shown]


def test_no_output_is_left_of_a_page_that_went():
    kept = {programs.kept_file(CHECKOUT / page) for page in PAGES}
    assert set(programs.KEPT.glob("*.json")) <= kept


def test_readme_shows_what_its_program_prints():
    page = CHECKOUT / "README.md"
    output = programs.kept_output(page)
    assert any(output)
    assert programs.with_output(page, output) == page.read_text(encoding="utf-8")


def test_first_program_of_the_site_is_that_of_the_readme():
    first = [programs.programs_of(CHECKOUT / page)[1] for page in ("README.md", "docs/index.md")]
    assert first[0].text == first[1].text


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of a site elsewhere, whose text is set by calling it."""
    monkeypatch.setattr(programs, "ROOT", tmp_path)
    monkeypatch.setattr(programs, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(programs, "KEPT", tmp_path / "docs" / "printed")
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "page.md"

    def write(text):
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_programs_share_names_and_show_their_last_value(page):
    path = page(
        "<!-- given\nhidden = 20\n-->\n\n```python\nprint('a ' + 'line')\nhidden + 1\n```\n"
        "<!-- not run: needs a cluster -->\n```python\nraise SystemExit\n```\n"
        "```bash\necho of the shell\n```\n"
        "```python\nimport warnings\nwarnings.warn('careful')\n```\n"
    )
    output = programs.execute(path)
    assert output == ["", "a line\n21", "", "of the shell", "UserWarning: careful"]


def test_picture_after_a_program_is_drawn_by_it(page):
    path = page(
        "```python\nfrom matplotlib.figure import Figure\nfigure = Figure()\n"
        "figure.subplots().plot([1, 2])\nfigure\n```\n![a line](_static/pictures/line.png)\n"
    )
    assert programs.execute(path) == [""]
    assert (path.parent / "_static" / "pictures" / "line.png").read_bytes()[:4] == b"\x89PNG"


def test_changed_program_makes_the_output_stale(page):
    path = page("```python\n1 + 1\n```\n")
    assert programs.kept_output(path) is None
    kept = {"programs": programs.fingerprint(programs.programs_of(path)), "printed": ["2"]}
    programs.KEPT.mkdir()
    programs.kept_file(path).write_text(json.dumps(kept), encoding="utf-8")
    assert programs.kept_output(path) == ["2"]
    page("Words change nothing.\n\n```python\n1 + 1\n```\n")
    assert programs.kept_output(path) == ["2"]
    page("```python\n1 + 2\n```\n")
    assert programs.kept_output(path) is None


def test_output_stands_in_the_text_fence_of_a_page_outside_of_the_site(page):
    path = page("```python\n1 + 1\n```\n\n```text\nold\n```\n\nMore.\n")
    assert (
        programs.with_output(path, ["2"]) == "```python\n1 + 1\n```\n\n```text\n2\n```\n\nMore.\n"
    )
