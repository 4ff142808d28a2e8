"""Every way to be wrong, and the sentence that it gives."""

import json
import shlex
import shutil
import signal
import warnings

import numpy as np
import pandas as pd
import pytest

from bayesmargin.cli import fitting
from bayesmargin.errors import InterruptedWarning
from tests.cli.conftest import QUICK, bayesmargin, failing, make_people


@pytest.fixture
def table(tmp_path):
    """Write a changed table; gives its path."""

    def write(**columns):
        make_people(60).assign(**columns).to_csv(tmp_path / "table.csv", index=False)
        return tmp_path / "table.csv"

    return write


def test_usage(people, tmp_path):
    csv = people.csv
    cases = {
        (
            "fit",
            csv,
            "--model",
            "forest",
        ): "choose one of linear, svc, svr, quantile, medlda, infinite, dpmnl",
        ("fit", csv, "--topics", "5"): "--topics means nothing to --model linear",
        ("fit", csv, "--set", "priors=x"): "did you mean prior?",
        ("fit", csv, "--set", "prior"): "is not NAME=VALUE",
        ("fit", csv, "--set", "random_state=1"): "use --seed instead",
        (
            "fit",
            csv,
            "--set",
            'sampler={"name": "x"}',
        ): "sampler='x' is not allowed: choose one of 'auto'",
        ("fit", csv, "--set", 'sampler={"name": "ssgld", "stp": 1}'): "did you mean step?",
        ("fit", csv, "--validation", "1.5"): "is not a share",
        ("fit", csv, "--checkpoint-every", "5"): "needs --checkpoint",
        ("fit", csv, "--nonsense"): "see bayesmargin fit --help",
        ("fit",): "see bayesmargin fit --help",
        ("fitt", csv): "see bayesmargin --help",
        ("fit", csv, "-o", csv): "is a file",
        ("fit", csv, "-o", people.folder): "holds other files",
        ("predict", people.model, csv, "-o", "x.docx"): "ends in none of",
        ("report", people.model, "-o", tmp_path): "is a folder: give a file",
        ("topics", people.model): "is a BayesianLinearSVC, which has no topics",
        ("datasets", "a9b"): "did you mean a9a?",
        ("datasets", "a9a", "--subset", "half"): "half",
    }
    for words, expected in cases.items():
        assert expected in failing(2, *words), words


def test_settings_that_the_estimator_refuses(people):
    common = ("fit", people.csv, "--target", "income", "--id", "name", "--quiet")
    assert "C=-1.0 is not allowed" in failing(2, *common, "--C", "-1")
    assert "vectorizer" in failing(2, *common, "--vectorizer", "min_df=2")


def test_settings_are_refused_before_data_are_read(people, tmp_path, monkeypatch):
    def unread(*args, **kwargs):
        raise AssertionError("the data were read")

    monkeypatch.setattr("bayesmargin.tables.read_table", unread)
    common = ("fit", people.csv, "--target", "income", "--id", "name")
    cases = {
        ("--C", "-3"): "C=-3.0 is not allowed",
        ("--n-jobs", "0"): "n_jobs=0 is not allowed",
        ("--seed", "-1"): "--seed -1 is not allowed: a seed is 0 or more",
        ("--labels", "l.txt"): "--labels l.txt and --target income both tell the labels",
        ("--n-jobs", "0", "--model", "infinite"): "n_jobs=0 is not allowed",
        ("--set", "C=abc"): "C='abc' is not allowed",
        ("--model", "medlda", "--topics", "1"): "n_topics=1 is not allowed",
        ("--model", "infinite", "--draws", "0"): "n_draws=0 is not allowed",
        ("--model", "dpmnl", "--set", "sampler__weights__step=-1"): "step=-1 is not",
        ("--checkpoint", tmp_path / "ck", "--checkpoint-every", "0"): "every=0.0 is not",
        ("--set", "n_draws=10", "--draws", "20"): "--draws and --set n_draws are the same setting",
        ("--set", "margin=1", "--set", "margin=2"): "--set margin is given twice",
        ("--vectorizer", "foo=5"): "'foo' is not a setting of the vectorizer",
        ("--vectorizer", "foo"): "is not NAME=VALUE",
        ("--vectorizer", "min_df=few"): "'min_df' parameter",
        ("--vectorizer", "ngram_range=3"): "settings of the vectorizer cannot be used",
        ("--vectorizer", "token_pattern=("): "settings of the vectorizer cannot be used",
        ("--weighting", "heavy"): "choose counts or tfidf",
        ("--missing", "guess"): "choose error, median, drop",
    }
    for words, expected in cases.items():
        assert expected in failing(2, *common, *words), words
    assert not (tmp_path / "ck.command.json").exists()


def test_files_and_columns(people, tmp_path):
    csv = people.csv
    broken = tmp_path / "broken.csv"
    broken.write_text('a,b\n1,2\n"3,4\n')
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    twice = tmp_path / "twice.csv"
    twice.write_text("a,a,b\n1,2,3\n")
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b\nu,1\n", encoding="utf-16")
    bare = tmp_path / "bare.csv"
    bare.write_text("1,1,u\n2,3,v\n")
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"a,b\nZ\xfcrich,1\n")
    (tmp_path / "x.docx").write_text("x")
    (tmp_path / "bad.parquet").write_text("PAR0")
    (tmp_path / "bad.npz").write_text("PK")
    (tmp_path / "bad.npy").write_text("x")
    (tmp_path / "bad.svm").write_text("1 a:b\n")
    (tmp_path / "folder").mkdir()
    np.save(tmp_path / "rows.npy", np.zeros((3, 2)))
    (tmp_path / "two.txt").write_text("a\nb\n")
    cases = {
        ("fit", tmp_path / "no.csv"): "there is no file or folder",
        ("fit", csv): "name the column with --target",
        ("fit", csv, "--target", "incom"): "did you mean 'income'?",
        ("fit", csv, "--target", "zzz"): "its columns are 'name', 'age'",
        ("fit", csv, "--target", "target"): "its columns are 'name', 'age'",
        ("fit", tmp_path / "two.txt"): "--label-first when lines are a label, a tab",
        ("fit", csv, "--target", "income", "--drop", "nam"): "did you mean 'name'?",
        ("fit", csv, "--target", "income"): "'name' has a different word in every row",
        ("fit", csv, "--target", "name"): "it is a name or a measurement and not a class",
        ("fit", csv, "--target", "country"): "only one class, 'CH'",
        ("fit", csv, "--target", "job", "--text", "job"): "'job' holds the labels (--target) and",
        ("fit", broken, "--target", "b"): "is not readable as CSV",
        ("fit", empty, "--target", "b"): "is empty",
        ("fit", twice, "--target", "b"): "several columns named 'a'",
        ("fit", latin, "--target", "b"): "is not UTF-8 text: convert it, for instance with "
        f"iconv -f LATIN1 -t UTF-8 {latin}",
        ("fit", wide, "--target", "b"): f"iconv -f UTF-16 -t UTF-8 {wide}",
        ("fit", bare, "--target", "b"): "the first line should hold the names of the columns",
        ("fit", tmp_path / "folder", "--target", "b"): "folders of documents have no column names",
        ("fit", tmp_path / "x.docx"): "not known by its name",
        ("fit", csv, "--format", "excel"): "choose one of csv",
        ("fit", tmp_path / "bad.parquet", "--target", "b"): "not a readable Parquet file",
        ("fit", tmp_path / "bad.npz"): "not a sparse matrix written by scipy.sparse.save_npz",
        ("fit", tmp_path / "bad.npy"): "not a readable .npy file",
        ("fit", tmp_path / "bad.svm"): "line 1 is not 'label index:value ...'",
        ("fit", tmp_path / "folder"): "a folder of documents for each class is needed",
        ("fit", tmp_path / "rows.npy"): "pass --labels FILE",
        ("fit", tmp_path / "rows.npy", "--labels", tmp_path / "two.txt"): "2 labels, but",
        ("fit", tmp_path / "rows.npy", "--labels", "no.txt"): "there is no file of labels",
        ("fit", tmp_path / "rows.npy", "--target", "b"): "npy files have no column names",
        ("fit", tmp_path / "two.txt", "--label-first"): "line 1 of",
        ("predict", people.model, tmp_path / "rows.npy"): "reads tables with named columns",
        ("evaluate", people.model, csv, "--target", "job"): "lacks columns that the model needs",
        ("evaluate", people.model, csv, "--target", "country"): "are not among the classes",
    }
    for words, expected in cases.items():
        assert expected in failing(3, *words), words


def test_columns_that_cannot_be_used(table, people):
    common = ("--target", "income", "--id", "name")
    dates = pd.date_range("2024-01-01", periods=60).astype(str)
    assert "holds dates such as 2024-01-01" in failing(3, "fit", table(day=dates), *common)
    holes = make_people(60)["age"].where(np.arange(60) % 7 != 0)
    message = failing(3, "fit", table(age=holes), *common)
    assert "missing values: 'age' 9; pass --missing median" in message
    labels = make_people(60)["income"].where(np.arange(60) != 8)
    assert "no value in 1 row (first: row 9)" in failing(3, "fit", table(income=labels), *common)
    infinite = make_people(60)["age"].where(np.arange(60) != 8, np.inf)
    assert "infinite" in failing(3, "fit", table(age=infinite), *common)
    assert "measurement" in failing(
        3, "fit", table(income=np.random.default_rng(0).random(60)), *common
    )
    assert "lacks columns that the model needs: 'age'" in failing(
        3, "predict", people.model, _without(table(), "age")
    )
    assert "row 1 has 'old'" in failing(3, "predict", people.model, table(age="old"))


def _without(path, column):
    pd.read_csv(path).drop(columns=column).to_csv(path, index=False)
    return path


def test_advice_can_be_copied_into_a_shell(table, tmp_path):
    csv = table(**{"first name": [f"p{k}" for k in range(60)]})
    command = ("fit", csv, "--target", "income", "--id", "name", "-o", tmp_path / "m", "--quiet")
    advice = failing(3, *command).rpartition("leave it out with ")[2]
    assert advice == "--drop 'first name'"
    assert bayesmargin(*command, *shlex.split(advice), *QUICK).code == 0


def test_models_that_cannot_be_trusted(people, tmp_path):
    assert "there is no saved model" in failing(4, "info", tmp_path / "none")
    (tmp_path / "other").mkdir()
    assert "is not a saved model" in failing(4, "predict", tmp_path / "other", people.csv)
    changed = tmp_path / "changed"
    shutil.copytree(people.model, changed)
    manifest = changed / "manifest.json"
    manifest.write_text(manifest.read_text().replace("BayesianLinearSVC", "BayesianLinearSVX"))
    assert "damaged" in failing(4, "evaluate", changed, people.csv)
    (tmp_path / "ck.command.json").write_text("{}")
    assert "is damaged" in failing(4, "resume", tmp_path / "ck")
    assert "there is no" in failing(4, "resume", tmp_path / "never")


def test_the_folder_where_we_are_and_the_root(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (".", "..", "/"):
        assert f"{path} is not a saved model" in failing(4, "info", path)
        assert "there is no" in failing(4, "resume", path)
    monkeypatch.chdir(people.model)
    assert bayesmargin("report", ".", "-q").code == 0
    assert people.model.with_suffix(".html").is_file()


def test_strict_says_do_not_trust_with_code_5(people, tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "trust", lambda estimator: (False, "no"))
    words = ("fit", people.csv, "--target", "income", "--id", "name", "-o", tmp_path / "m", "-q",
             *QUICK)  # fmt: skip
    assert bayesmargin(*words).code == 0
    assert bayesmargin(*words, "--strict").code == 5


def test_an_interrupt_before_any_draw_writes_no_model(people, tmp_path, monkeypatch):
    from bayesmargin import BayesianLinearSVC

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(BayesianLinearSVC, "fit", stop)
    words = ("fit", people.csv, "--target", "income", "--id", "name", "-o", tmp_path / "m", "-q")
    assert "no model was written" in failing(130, *words)
    assert not (tmp_path / "m").exists()
    message = failing(130, *words, "--checkpoint", tmp_path / "ck")
    assert f"bayesmargin resume {tmp_path / 'ck'}" in message


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_a_request_to_end_is_heeded_like_an_interrupt(people, tmp_path, monkeypatch, ctrl_c):
    """Schedulers send SIGTERM and wait for a while; shells have jobs behind them ignore Ctrl-C."""
    from bayesmargin import BayesianLinearSVC

    unheeded = []

    def told_to_end(self, X, y):
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the fit went on")

    monkeypatch.setattr(BayesianLinearSVC, "fit", told_to_end)
    words = ["fit", people.csv, "--target", "income", "--id", "name", "-o", tmp_path / "m"]
    before = signal.signal(signal.SIGTERM, lambda number, frame: unheeded.append(number))
    usual = signal.signal(signal.SIGINT, ctrl_c)
    try:
        assert "interrupted" in failing(130, *words)
        assert not unheeded
        signal.raise_signal(signal.SIGTERM)
        assert unheeded == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, usual)


def test_an_interrupt_while_sampling_keeps_the_draws(people, tmp_path, monkeypatch):
    from bayesmargin import BayesianLinearSVC

    whole = BayesianLinearSVC.fit

    def cut_short(self, *args, **kwargs):
        warnings.warn("sampling was interrupted", InterruptedWarning, stacklevel=2)
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(BayesianLinearSVC, "fit", cut_short)
    result = bayesmargin("fit", people.csv, "--target", "income", "--id", "name",
                         "-o", tmp_path / "m", "-q", "--json", *QUICK)  # fmt: skip
    assert result.code == 130
    assert json.loads(result.out)["interrupted"] is True
    assert (tmp_path / "m" / "manifest.json").is_file()


def test_the_unexpected_is_told_in_a_sentence_and_shown_with_debug(people, monkeypatch):
    def burst(path):
        raise RuntimeError("a pipe\nburst")

    monkeypatch.setattr("bayesmargin.cli.models.load_saved", burst)
    message = failing(1, "info", people.model)
    assert message == "unexpected RuntimeError: a pipe burst (--debug shows where)"
    assert "Traceback" in bayesmargin("info", people.model, "--debug").err


def test_data_are_not_overwritten_by_what_is_made_of_them(people, tmp_path):
    data = tmp_path / "new.csv"
    shutil.copy(people.csv, data)
    (tmp_path / "link.csv").symlink_to(data)
    for command in (
        ("predict", people.model, data, "-o", data),
        ("predict", people.model, tmp_path / "link.csv", "-o", data),
        ("report", people.model, data, "-o", tmp_path / "link.csv"),
        ("report", people.model, "-o", people.csv),
    ):
        assert "would overwrite the data" in failing(2, *command)
    assert data.read_bytes() == people.csv.read_bytes()


def test_values_too_large_are_refused_in_new_rows_as_in_training(people, tmp_path):
    new = make_people(20)
    new.loc[7, "age"] = -1e200
    new.to_csv(tmp_path / "new.csv", index=False)
    message = failing(3, "predict", people.model, tmp_path / "new.csv")
    assert "column 'age' of" in message
    assert "holds -1e+200 in row 8: values beyond 1e+100" in message
    new.assign(age=np.inf).to_csv(tmp_path / "new.csv", index=False)
    assert "holds inf in row 1" in failing(3, "predict", people.model, tmp_path / "new.csv")
