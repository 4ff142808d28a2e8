"""What a report is given: paths, rows, labels and names in the forms that people have them in."""

import re
import warnings
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier
from bayesmargin.models.medlda import diagnostics
from bayesmargin.models.medlda.posterior import TopicPosterior
from bayesmargin.report import held_out, write_report
from bayesmargin.report.context import make_context

IRIS = load_iris(as_frame=True)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BayesianLinearSVC(n_draws=60, random_state=0).fit(
            IRIS.data.to_numpy()[::2], IRIS.target[::2]
        )


@pytest.fixture(scope="module")
def rows():
    return IRIS.data.to_numpy()[1::2], IRIS.target.to_numpy()[1::2]


def text_of(page):
    return page.read_text(encoding="utf-8")


def test_the_path_may_come_first(model, rows, tmp_path):
    path = tmp_path / "page.html"
    usual = text_of(write_report(model, {}, path, SimpleNamespace(X=rows[0], y=rows[1])))
    for call in (
        lambda: write_report(model, str(path), data=rows),
        lambda: write_report(model, path, rows),
        lambda: write_report(model, path, {}, rows),
        lambda: write_report(model, path=path, data=rows),
        lambda: write_report(model, path, data={"X": rows[0], "y": rows[1]}),
        lambda: write_report(model, None, path, rows),
    ):
        path.unlink()
        assert text_of(call()) == usual
    for call in (
        lambda: write_report(model),
        lambda: write_report(model, {}),
        lambda: write_report(model, {}, 3),
        lambda: write_report(model, path, "other.html"),
    ):
        with pytest.raises(TypeError, match="write_report"):
            call()


def test_a_class_of_the_users_own_has_the_page_of_its_parent(model, rows, tmp_path):
    class HouseModel(BayesianLinearSVC):
        """A model that somebody derived."""

    own = HouseModel(**model.get_params())
    vars(own).update(vars(model))
    page = text_of(write_report(own, tmp_path / "own.html", rows))
    assert "HouseModel report" in page
    usual = text_of(write_report(model, tmp_path / "usual.html", rows))
    assert page.replace("HouseModel", "BayesianLinearSVC") == usual


@pytest.mark.parametrize("change", [slice(0, 50), slice(0, 74)])
def test_labels_of_other_rows_are_refused(model, rows, change, tmp_path):
    X, y = rows
    with pytest.raises(ValueError, match=r"y holds \d+ items, but X has 75 rows"):
        write_report(model, tmp_path / "p.html", (X, y[change]))
    with pytest.raises(ValueError, match=r"y holds 75 items, but X has \d+ rows"):
        write_report(model, tmp_path / "p.html", (X[change], y))
    for name in ("ids", "texts"):
        data = SimpleNamespace(X=X, y=y, **{name: ["a"] * 3})
        with pytest.raises(ValueError, match=f"{name} holds 3 items, but X has 75 rows"):
            write_report(model, tmp_path / "p.html", data)
    with pytest.raises(ValueError, match=r"y has the shape \(75, 2\)"):
        write_report(model, tmp_path / "p.html", (X, np.column_stack([y, y])))
    assert not list(tmp_path.iterdir())


def test_labels_and_names_of_rows_from_tables(model, rows, tmp_path):
    X, y = rows
    usual = text_of(write_report(model, tmp_path / "p.html", SimpleNamespace(X=X, y=y, ids=y)))
    column = pd.Series(y, index=np.arange(75) + 1000)
    for labels in (y.tolist(), column, column.to_frame()):
        data = SimpleNamespace(X=X, y=labels, ids=column)
        assert text_of(write_report(model, tmp_path / "p.html", data)) == usual


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil"])
def test_sparse_rows_of_every_form(model, rows, form, tmp_path, monkeypatch):
    monkeypatch.setattr(held_out, "MOST_ROWS", 60)
    X = getattr(sparse, f"{form}_array")(rows[0])
    page = text_of(write_report(model, tmp_path / "p.html", data=(X, rows[1])))
    usual = text_of(write_report(model, tmp_path / "p.html", data=(sparse.csr_array(X), rows[1])))
    assert page == usual


def test_rows_without_labels_told_from_labels(model, rows, tmp_path):
    with pytest.raises(TypeError, match=r"ndarray.*\(X, y\)"):
        write_report(model, tmp_path / "p.html", data=rows[0])
    assert "most doubtful" in text_of(write_report(model, tmp_path / "p", data=(rows[0], None)))


@pytest.mark.parametrize("form", [np.array, pd.Index, pd.Series, list, tuple])
def test_names_in_every_form(model, form, tmp_path):
    extras = {"feature_names": form(IRIS.feature_names), "class_names": form(IRIS.target_names)}
    text = text_of(write_report(model, extras, tmp_path / "p.html"))
    assert "feature 0" not in text
    shown = re.sub(r"<pre>.*?</pre>", "", text, flags=re.S)  # less the documents themselves
    assert "petal width (cm)" in shown
    assert "versicolor" in shown


def test_names_that_do_not_fit_are_told(model, tmp_path):
    extras = {"feature_names": np.array(["a", "b"]), "class_names": ["one", "two"]}
    text = unescape(text_of(write_report(model, extras, tmp_path / "p.html")))
    assert 'Names were left aside: "feature_names" holds 2 names, but 4 are needed' in text
    assert 'Names were left aside: "class_names" holds 2 names, but 3 are needed' in text
    assert "feature 0" in text


@pytest.mark.parametrize("kind", [InfiniteSVC, DPMNLClassifier, BayesianLinearSVC])
def test_tables_with_names_of_columns_give_no_warning(kind, tmp_path):
    settings = {"n_draws": 60} if kind is BayesianLinearSVC else {"n_sweeps": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kind(random_state=0, **settings).fit(IRIS.data[::2], IRIS.target[::2])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        write_report(fitted, tmp_path / "p.html", (IRIS.data[1::2], IRIS.target[1::2]))
    assert [str(warning.message) for warning in told] == []


def test_topics_of_a_table_of_counts(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["moon", "sun"], 40)
    rates = np.where(y[:, None] == "moon", [3, 3, 0.2, 0.2], [0.2, 0.2, 3, 3])
    X = pd.DataFrame(rng.poisson(rates), columns=["tide", "low", "nova", "hot"])
    fitted = MedLDAClassifier(n_topics=3, random_state=0).fit(X[::2], y[::2])
    text = text_of(write_report(fitted, tmp_path / "p.html", (X[1::2], y[1::2])))
    assert "Mean share of the words" in text
    words = {"tide": np.int64(0), "low": 1, "nova": 2, "hot": 3}
    assert fitted.top_words(words) == fitted.top_words(list(X.columns)) == fitted.top_words()
    with pytest.raises(ValueError, match="numbers from 0 to 3"):
        fitted.top_words({"tide": 0, "low": 1, "nova": 2, "hot": 4})


def test_draws_of_topics_are_gone_through_once(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.poisson(1.0, (40, 6)), np.arange(40) % 2
    fitted = MedLDAClassifier(n_topics=3, n_chains=1, random_state=0).fit(X, y)
    seen = []
    for owner, name in ((diagnostics, "_breadth"), (TopicPosterior, "mean_topics")):
        called = getattr(owner, name)

        def counted(*given, called=called, name=name):
            seen.append(name)
            return called(*given)

        monkeypatch.setattr(owner, name, counted)
    write_report(fitted, tmp_path / "p.html")
    assert (seen.count("_breadth"), seen.count("mean_topics")) == (10, 1)


def test_a_folder_and_data_without_rows_are_refused(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = DPMNLClassifier(n_sweeps=4).fit(IRIS.data, IRIS.target)
    with pytest.raises(IsADirectoryError, match=r"is a folder: give the file .*report\.html"):
        write_report(fitted, tmp_path)
    with pytest.raises(TypeError, match="data holds no rows: its X is None"):
        write_report(fitted, tmp_path / "p.html", (None, IRIS.target))
    assert list(tmp_path.iterdir()) == []


def test_names_of_other_things_are_not_taken_for_those_of_features():
    X, y = IRIS.data.to_numpy()[:, :3], IRIS.target
    model = BayesianLinearSVC(n_draws=400, n_chains=2, random_state=0).fit(X, y)
    for extras in (
        {"class_names": ["roses", "tulips", "lilies"]},
        {"fit": {"settings": ["prior=laplace", "margin=2", "n_warmup=9"]}},
        {"authors": ["Ann", "Bob", "Cem"]},
    ):
        context = make_context(model, extras, None)
        assert context.feature_names == ["feature 0", "feature 1", "feature 2"]
        assert not context.named
    words = {"preparation": {"kind": "text", "vocabulary": ["a", "b", "c"]}}
    assert make_context(model, words, None).feature_names == ["a", "b", "c"]
