"""What a shell can do to a command: variables that are not set, and nowhere to write."""

import os

from bayesmargin.cli.main import app
from tests.cli.conftest import bayesmargin, failing, make_people


def test_an_empty_argument_is_not_the_present_folder(people, tmp_path, monkeypatch):
    """As a variable of the shell that is not set leaves one: paths would take it for ``.``."""
    monkeypatch.chdir(tmp_path)
    make_people(60).to_parquet("people.parquet")
    for words, before in (
        (("fit", "", "--target", "income", "--drop", "name"), "'fit'"),
        (("predict", people.model, ""), f"'{people.model}'"),
        (("report", people.model, ""), f"'{people.model}'"),
    ):
        assert failing(2, *words).startswith(f"the argument after {before} is empty")


def test_an_error_is_told_elsewhere_where_stdout_is_full(monkeypatch, capsys):
    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    assert app(["info", "nothing", "--json"], standalone_mode=False) == 4
    assert capsys.readouterr().err == "bayesmargin: error: there is no saved model at nothing\n"


def test_lines_of_predictions_end_once_on_windows(people, monkeypatch):
    monkeypatch.setattr(os, "linesep", "\r\n")
    assert "\r" not in bayesmargin("predict", people.model, people.csv).out
