"""What notebooks show of the parts of a model: whole markup, a picture each, nothing unescaped."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.models.medlda.diagnostics import TopicDiagnostics
from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics
from bayesmargin.posterior import Posterior
from bayesmargin.report.cards import GREEN, MOST_SHOWN, RED

RNG = np.random.default_rng(0)
FIGURES = {"mean": 4.0, "r_hat": 1.01, "effective_draws": 90.0}


def posterior(n_features=3, names=None):
    draws = RNG.standard_normal((2, 40, n_features)) + np.arange(n_features)
    names = [f"f{k}" for k in range(n_features)] if names is None else names
    return Posterior({"coef": draws}, {"coef": ("feature",)}, {"feature": names}, {})


def diagnostics(rhat=1.01, trustworthy=True):
    return Diagnostics(rhat, 800.0, 700.0, 1.0, 0.1, 0.01, 0, 4000, 1.5, True, trustworthy)


def read(part):
    """The markup, which must be whole."""
    return ElementTree.fromstring(part._repr_html_())


def texts(part):
    return " ".join("".join(read(part).itertext()).split())


PARTS = {
    "posterior": posterior(),
    "diagnostics": diagnostics(),
    "mixture": MixtureDiagnostics({"components": FIGURES, "moved": 0.1}, [[4, 5, 3], [4, 4, 4]]),
    "topics": TopicDiagnostics({"size of the weights": np.array([[2.0, 2.0, 2.1, 2.1]])}),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_card_has_a_picture_and_says_the_sentence(name):
    part = PARTS[name]
    root = read(part)
    assert len(root.findall(".//svg")) == 1
    assert all(one.get("aria-label") for one in root.findall(".//svg"))
    if name != "posterior":
        assert str(part) in texts(part)


def test_the_surest_weights_come_first_and_not_too_many():
    rows = read(posterior(30)).findall(".//tbody/tr")
    assert len(rows) == MOST_SHOWN
    assert rows[0].find("th").text in {f"coef[f{k}]" for k in range(24, 30)}
    assert "of 30" in texts(posterior(30))


def test_a_wide_posterior_is_described_and_not_summarised():
    wide = Posterior({"coef": np.zeros((1, 4, 5000))}, {"coef": ("feature",)}, {}, {})
    assert not read(wide).findall(".//svg")
    assert "5,000 scalars" in texts(wide)


def test_names_are_escaped():
    html = posterior(1, ["<script>alert(1)</script>"])._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html


def test_a_figure_out_of_its_range_is_red():
    def dots(found):
        return [dot.get("fill") for dot in read(found).findall(".//circle")]

    assert set(dots(diagnostics())) == {GREEN}
    assert dots(diagnostics(1.3, False))[0] == RED
    assert len(dots(diagnostics(math.nan, False))) == 4


def test_constants_do_not_break_a_card():
    still = Posterior({"b": np.zeros((2, 10))}, {"b": ()}, {}, {})
    assert "b" in texts(still)
