"""Reports of models that tables tell of: crowds, ratings, links."""

import numpy as np
import pandas as pd
import pytest

from bayesmargin import MaxMarginFactorization, MaxMarginLinks, MaxMarginVoting
from bayesmargin.report import write_report

from .browser import CHROMIUM, open_page

HOSTILE = "<script>alert(1)</script>\"'&"


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    votes = [
        (f"item {i} {HOSTILE}", f"worker {j} {HOSTILE}", "no" if rng.random() < 0.2 else HOSTILE)
        for i in range(40)
        for j in range(4)
    ]
    short = {"n_sweeps": 60, "n_chains": 2, "n_draws": 10, "random_state": 0}
    stars = [
        (f"{HOSTILE} {i}", f"{HOSTILE} film {j}", 1 + (truth[i] + j) % 3)
        for i in range(40)
        for j in range(30)
        if rng.random() < 0.5
    ]
    names = [f"{HOSTILE} {i}" for i in range(12)]
    same = truth[:12, None] == truth[:12]
    few = pd.DataFrame(same.astype(float), names, names)
    many = np.stack([truth[:, None] == truth, truth[:, None] < truth]).astype(float)
    linked = {"n_sweeps": 30, "n_chains": 2, "n_draws": 8, "random_state": 0}
    return {
        "links": MaxMarginLinks(**linked).fit(few),
        "relations": MaxMarginLinks(True, **linked).fit({HOSTILE: many[0], "below": many[1]}),
        "tables": MaxMarginVoting(**short).fit(votes),
        "plain vote": MaxMarginVoting(pseudo_counts=None, prior_mean=1.0, **short).fit(votes),
        "factors": MaxMarginFactorization(2, **short).fit(stars),
        "features": MaxMarginFactorization("infinite", **short).fit(stars),
    }


WORDS = {
    "tables": ("Labels in doubt", "Whom to rely on", "probability of a right label", "Workers"),
    "plain vote": ("Labels in doubt", "Whom to rely on", "weight of a vote"),
    "factors": ("What is liked", "How users rate", "Levels (3)", "1|2"),
    "features": ("What is liked", "number of features"),
    "links": ("How probable links are", "Entities", "Features behind the links", "most alike"),
    "relations": (
        "data:image/png",
        "Relations (2)",
        "below",
        "Posterior of the number of features",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_page_tells_what_the_tables_know(models, name, tmp_path):
    model = models[name]
    text = write_report(model, tmp_path / "page.html").read_text(encoding="utf-8")
    for word in WORDS[name]:
        assert word in text
    assert "<script>alert" not in text
    assert "trusted" in text or "settled" in text
    for absent in ("Reliability", "Features (", "accuracy on held-out rows"):
        assert absent not in text


def test_rows_that_were_held_out_are_refused(models, tmp_path):
    with pytest.raises(ValueError, match="about the table of the fit"):
        write_report(models["factors"], tmp_path / "page.html", data=(np.eye(2), [0, 1]))


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_shows_it_without_complaint(models, tmp_path):
    page = write_report(models["tables"], tmp_path / "page.html")
    text, console = open_page(page)
    assert "Whom to rely on" in text
    assert not console
