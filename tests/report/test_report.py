"""The report: every model, hostile names, size, and a look at it in a browser."""

import copy
import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier, load
from bayesmargin.calibration.maps import MulticlassLink
from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.posterior import Posterior
from bayesmargin.report import write_report
from bayesmargin.report.context import make_context
from bayesmargin.report.sections.chain_traces import components_verdict

from .browser import CHROMIUM, open_page

HOSTILE = "<script>alert(1)</script>\"'&"


def table_data(n_classes=2, hostile=False):
    X, y = make_classification(
        400, 6, n_informative=4, n_classes=n_classes, random_state=0, n_clusters_per_class=1
    )
    labels = np.array([f"kind {k}" for k in range(n_classes)], dtype=object)
    if hostile:
        labels[-1] = HOSTILE
    return X, labels[y]


def count_data():
    rng = np.random.default_rng(0)
    y = np.repeat(["moon", HOSTILE], 40)
    rates = np.where(y[:, None] == "moon", [3, 3, 0.2, 0.2], [0.2, 0.2, 3, 3])
    return sparse.csr_matrix(rng.poisson(rates)), y


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = table_data()
        binary = BayesianLinearSVC(n_draws=60, random_state=0).fit(X[:300], y[:300])
        X3, y3 = table_data(3, hostile=True)
        several = BayesianLinearSVC(n_draws=60, random_state=0).fit(X3[:300], y3[:300])
        counts, labels = count_data()
        topics = MedLDAClassifier(n_topics=3, random_state=0).fit(counts[::2], labels[::2])
        moons, side = make_moons(200, noise=0.2, random_state=0)
        infinite = InfiniteSVC(n_sweeps=30, random_state=0).fit(moons[:150], side[:150])
        iris, kind = load_iris(return_X_y=True)
        logit = DPMNLClassifier(n_sweeps=20, n_draws=5, random_state=0).fit(iris[::2], kind[::2])
        wide = InfiniteSVC(n_sweeps=20, random_state=0).fit(iris[::2], kind[::2])
    held = SimpleNamespace
    return {
        "binary": (binary, held(X=X[300:], y=y[300:])),
        "several": (several, held(X=X3[300:], y=y3[300:], ids=[HOSTILE] * 100)),
        "topics": (topics, held(X=counts[1::2], y=labels[1::2], texts=[HOSTILE] * 40)),
        "infinite": (infinite, held(X=moons[150:], y=side[150:])),
        "principal": (wide, held(X=iris[1::2], y=kind[1::2])),
        "dpmnl": (logit, held(X=iris[1::2], y=kind[1::2])),
    }


NAMES = ["binary", "several", "topics", "infinite", "principal", "dpmnl"]
EXPECTED = {
    "binary": ["The strongest weights", "Reliability curve", "Confusion matrix", "Traces of"],
    "several": ["Weights of", "Curve of", "runner-up"],
    "topics": ["Topics that share words lie close together", "Mean share of the words",
               "The most probable words", "words a topic spreads"],
    "infinite": ["Posterior of the number of components", "Experts of the last draw",
                 "1 chain, 15 kept of 15 sweeps after burn-in"],
    "principal": ["first principal component", "of their variance"],
    "dpmnl": ["Posterior of the number of components", "first principal component",
              "1 chain, 5 kept of 10 sweeps after burn-in"],
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_page_of_every_model(models, name, tmp_path):
    model, data = models[name]
    extras = {"vocabulary": [HOSTILE, "tide", "sun", "nova"]} if name == "topics" else {}
    page = write_report(model, extras, tmp_path / "deep" / "page.html", data=data)
    text = page.read_text(encoding="utf-8")
    for words in EXPECTED[name]:
        assert words in text
    for heading in ("What was fitted", "Can the run be trusted?", "Accuracy", "confidently wrong"):
        assert heading in text
    assert not list(tmp_path.glob("**/*.partial"))
    assert "nan" not in re.sub(r"<(style|script)>.*?</\1>|data:image[^\"]*", "", text, flags=re.S)


@pytest.mark.parametrize("name", NAMES)
def test_page_without_data(models, name, tmp_path):
    text = write_report(models[name][0], None, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No labelled held-out rows were given" in text
    assert "Confusion matrix" not in text


@pytest.mark.parametrize("name", ["binary", "topics", "infinite", "dpmnl"])
def test_page_of_a_model_from_disk_is_the_same(models, name, tmp_path):
    """Reading a saved model leaves nothing out that the report shows."""
    model, data = models[name]
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    pages = [
        write_report(one, {"vocabulary": ["low", "tide", "sun", "nova"]}, tmp_path / which, data)
        for one, which in ((model, "fitted.html"), (loaded, "loaded.html"))
    ]
    assert loaded is not model
    assert pages[1].read_text(encoding="utf-8") == pages[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("partition", "more", "words"),
    [
        (1.01, {}, "only several chains can tell"),
        (np.nan, {}, "no row ever changed its component"),
        (np.nan, {"interrupted": True}, "the run was interrupted"),
        (1.3, {}, "see the log probability of the partition"),
    ],
)
def test_the_verdict_of_a_page_is_that_of_the_mixture(models, partition, more, words):
    model = copy.copy(models["infinite"][0])
    known = {"mean": 3.0, "r_hat": 1.01, "effective_draws": 90.0}
    traces = {"components": known, "partition": {**known, "r_hat": partition}}
    model.diagnostics_ = {**traces, "moved": 0.1, **more}
    good, sentence = components_verdict(make_context(model, {}, None))
    assert words in sentence
    assert good is (None if "no row" in words else model.diagnostics_.trustworthy)
    model.diagnostics_ = {
        "components": {**known, "r_hat": 1.4}, "partition": {**known, "r_hat": np.nan}
    }  # fmt: skip
    assert components_verdict(make_context(model, {}, None))[0] is False


def test_a_mixture_whose_weights_stand_still_is_not_called_settled(models):
    """The page had said that it has settled, and the printed diagnostics that it has not."""
    model = copy.copy(models["dpmnl"][0])
    good = {"mean": 1.0, "r_hat": 1.0, "effective_draws": 90.0}
    model.diagnostics_ = {"components": good, "partition": good, "moved": 0.2, "accepted": 0.01}
    verdict, sentence = components_verdict(make_context(model, {}, None))
    assert verdict is model.diagnostics_.trustworthy is False
    assert "1% of their trajectories" in sentence


def test_short_names_of_classes_stand_upright(models, tmp_path):
    texts = [
        write_report(models[name][0], {}, tmp_path / name, models[name][1]).read_text("utf-8")
        for name in ("dpmnl", "several")
    ]
    assert "rotate(-45)" not in texts[0]
    assert "rotate(-45)" in texts[1]


def test_advice_names_only_settings_that_the_model_has(models, tmp_path):
    """Chains that have not settled: an infinite SVM has n_chains, dpMNL has not."""
    found = {}
    for name in ("infinite", "dpmnl"):
        model = copy.copy(models[name][0])
        model.n_components_ = np.atleast_2d(np.arange(1, 41))
        model.diagnostics_ = {}
        text = write_report(model, {}, tmp_path / name).read_text(encoding="utf-8")
        assert "Raise n_sweeps (half of them are burn-in)" in text
        found[name] = "several chains with n_chains" in text
    assert found == {"infinite": True, "dpmnl": False}


@pytest.mark.parametrize(("r_hat", "words"), [(np.nan, "no row ever changed"), (np.inf, "huge")])
def test_a_chain_that_never_moved_is_not_praised(models, r_hat, words, tmp_path):
    model = copy.copy(models["infinite"][0])
    figures = {"mean": 3.0, "r_hat": r_hat, "effective_draws": np.nan}
    model.diagnostics_ = {"components": figures, "partition": figures, "moved": 0.0}
    text = write_report(model, {}, tmp_path / "p.html").read_text(encoding="utf-8")
    assert words in text
    assert "the chain has settled, by" not in text
    assert "columns of few distinct values" in text
    assert ">nan<" not in text


def test_page_without_labels(models, tmp_path):
    model, data = models["binary"]
    page = write_report(model, {}, tmp_path / "p.html", data=SimpleNamespace(X=data.X, y=None))
    text = page.read_text(encoding="utf-8")
    assert "most doubtful" in text
    assert "confidently wrong" not in text


def test_nothing_from_the_data_becomes_markup(models, tmp_path):
    """Names, labels, texts and documents with markup in them appear as text."""
    extras = {
        HOSTILE: {HOSTILE: HOSTILE}, "command": [HOSTILE], "feature_names": [HOSTILE + "x"] * 6,
    }  # fmt: skip
    for name in ("several", "topics"):
        model, data = models[name]
        page = write_report(model, extras, tmp_path / f"{name}.html", data=data)
        text = page.read_text(encoding="utf-8")
        assert "&lt;script&gt;alert(1)" in text
        assert "<script>alert" not in text
        assert text.count("<script") == 1
        assert "http://" not in text
        assert "https://" not in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(CHROMIUM is None, reason="the page is opened in Chromium, which is not here")
def test_page_in_a_browser(models, name, tmp_path):
    """The script runs to its end, and the console stays empty."""
    model, data = models[name]
    page = write_report(model, {HOSTILE: HOSTILE}, tmp_path / "page.html", data=data)
    text, console = open_page(page)
    assert console == []
    assert '<html lang="en" class="js">' in text
    assert 'id="tip"' in text
    assert "<script>alert" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="the page is opened in Chromium, which is not here")
def test_the_browser_test_can_fail(tmp_path):
    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><script>missing()</script>", encoding="utf-8")
    assert any("missing is not defined" in line for line in open_page(page)[1])


def wide_model(n_features, n_classes):
    """A fitted model made by hand: sampling one would take longer than looking at it."""
    rng = np.random.default_rng(0)
    model = BayesianLinearSVC()
    model.classes_, model.n_features_in_ = np.arange(n_classes), n_features
    shape = (2, 20, n_classes, n_features)
    coef = rng.standard_normal(shape, dtype=np.float32)
    coords = {"feature": range(n_features), "class": range(n_classes)}
    dims = {"coef": ("class", "feature"), "intercept": ("class",)}
    intercept = np.zeros(shape[:3], np.float32)
    model.posterior_ = Posterior({"coef": coef, "intercept": intercept}, dims, coords, {})
    model.coef_, model.intercept_ = coef.mean(axis=(0, 1)), np.zeros(n_classes)
    model.link_ = MulticlassLink(1.0, np.array([1.0, 0.1]))
    model.diagnostics_ = Diagnostics(1.0, 30, 30, 1.0, 0.0, 0.0, 0, 100, 1.0, True, True)
    return model


def test_wide_model_gives_a_small_page(tmp_path):
    X = sparse.random(80, 20_000, 0.005, "csr", random_state=1)
    words = [f"{'long ' * 50}word {k}" for k in range(20_000)]
    y = np.random.default_rng(0).integers(30, size=80)
    data = SimpleNamespace(X=X, y=y, texts=["word " * 5000] * 80)
    model = wide_model(20_000, 30)
    page = write_report(model, {"vocabulary": words}, tmp_path / "wide.html", data=data)
    assert page.stat().st_size < 3_000_000
    assert "long long" in page.read_text(encoding="utf-8")


def test_label_sets(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(80, 3))
    y[y.sum(axis=1) == 0, 0] = 1
    X = rng.poisson(0.2 + 3.0 * np.repeat(y, 2, axis=1))
    model = MedLDAClassifier(n_topics=4, random_state=0).fit(X[:60], y[:60])
    data = SimpleNamespace(X=sparse.csr_matrix(X[60:]), y=y[60:])
    text = write_report(model, {}, tmp_path / "sets.html", data=data).read_text(encoding="utf-8")
    assert "Micro-averaged F1" in text


def test_labels_the_model_has_never_seen(models, tmp_path):
    model, data = models["binary"]
    strange = SimpleNamespace(X=data.X, y=np.where(np.arange(100) < 10, "new", data.y))
    text = write_report(model, {}, tmp_path / "p.html", data=strange).read_text(encoding="utf-8")
    assert "10 of 100 rows carry a label that the model was never shown" in text
    common = max(int((strange.y == name).sum()) for name in model.classes_)
    assert f" would be right in {common:.1f}%" in text  # of all 100 rows, like the accuracy


def test_other_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="Pipeline"):
        write_report(make_pipeline(BayesianLinearSVC()), {}, tmp_path / "p.html")
    with pytest.raises(NotFittedError):
        write_report(BayesianLinearSVC(), {}, tmp_path / "p.html")
    assert not list(tmp_path.iterdir())


def checks_of(text):
    """Marks of the checks on a page, by name."""
    found = re.search(r"<table.*?Checks.*?</table>", text, flags=re.S).group()
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in found.split("<tr>")[2:]]
    return {row[0]: re.sub("<.*?>", "", row[2]) for row in cells if len(row) > 2}


def test_the_checks_say_no_only_where_the_verdict_does(tmp_path):
    model = wide_model(5, 3)
    few = Diagnostics(1.0, 79, 15, 1.12, 0.0, 0.12, 1, 100, 1.0, True, True)
    for found, head, bad in (
        (few, "Good", set()),
        (replace(few, min_bulk_ess=19, converged=False, trustworthy=False), "Caution",
         {"effective draws, centre", "bias of the variance", "effective temperature"}),
    ):  # fmt: skip
        model.diagnostics_ = found
        text = write_report(model, tmp_path / "p.html").read_text(encoding="utf-8")
        assert f"<strong>{head}: </strong>" in text
        assert {name for name, mark in checks_of(text).items() if "no" in mark.split()} == bad


def test_an_interrupted_run_is_told_as_one(tmp_path):
    model = wide_model(5, 3)
    cut = replace(model.diagnostics_, min_bulk_ess=float("nan"), trustworthy=False, converged=False)
    model.diagnostics_ = replace(cut, interrupted=True)
    assert "NOT be trusted because the run was interrupted: worst R-hat" in str(model.diagnostics_)
    assert "NOT be trusted because the chains have not converged" in str(cut)
    text = write_report(model, tmp_path / "p.html").read_text(encoding="utf-8")
    assert "should not be trusted, because the run was interrupted." in text
    assert "fit again in full" in text
