"""A topic model says whether its draws have come to rest."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesmargin import MedLDAClassifier, load
from bayesmargin.cli.trust import diagnostics_document, trust
from bayesmargin.models.medlda.diagnostics import HEAT, QUANTITIES, TopicDiagnostics
from bayesmargin.report.context import make_context

from .test_corpus_size import draw_documents


def found(last):
    """Diagnostics of two chains, one of which ends at ``last`` times its beginning."""
    steady = np.full((2, 8), 3.0)
    moving = steady.copy()
    moving[1, 4:] *= last
    return TopicDiagnostics({"size of the weights": moving, "words a topic spreads over": steady})


@pytest.mark.parametrize(
    ("last", "good", "words"),
    [
        (1.05, True, "The kept draws are steady: they drift by 5.0% at most."),
        (0.5, False, "The kept draws still drift, by up to 50%: raise sampler__n_passes."),
    ],
)
def test_one_chain_that_drifts_is_enough(last, good, words):
    assert found(last).trustworthy is good
    assert str(found(last)) == words


def test_three_draws_tell_nothing():
    few = TopicDiagnostics({"size of the weights": np.ones((2, 3))})
    assert few.trustworthy is None
    assert str(few).startswith("There are too few draws")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.poisson(np.where(y[:, None] == 0, [3, 3, 0.2, 0.2], [0.2, 0.2, 3, 3]))
    return MedLDAClassifier(n_topics=3, random_state=0).fit(X, y)


def test_every_fit_has_them_and_the_command_line_uses_them(model):
    found = model.diagnostics_
    assert tuple(found) == QUANTITIES
    assert 1.0 < found["words a topic spreads over"]["mean"] < 4.0
    assert trust(model) == (found.trustworthy, str(found))
    assert diagnostics_document(model)["trustworthy"] is found.trustworthy


def test_draws_do_not_flood_the_screen(model):
    assert repr(model.posterior_[0]) == "TopicPosterior(10 draws of 3 topics, 4 words)"


def test_before_a_fit_there_are_none():
    with pytest.raises(NotFittedError):
        MedLDAClassifier().diagnostics_  # noqa: B018


@pytest.mark.parametrize(("step", "frozen"), [(None, False), (0.6, True)])
def test_weights_that_a_thermostat_froze_are_not_called_steady(step, frozen, tmp_path):
    """Too long a step runs up the friction: the weights stand still, and do not drift at all."""
    X, y = draw_documents(400, 11)
    settings = {"n_topics": 8, "n_chains": 1, "sampler__weights": "ssgnht", "random_state": 0}
    model = MedLDAClassifier(sampler__weights__step=step, **settings).fit(X, y % 2)
    model.save(tmp_path / "model")
    for found in (model.diagnostics_, load(tmp_path / "model").diagnostics_):
        assert found.frozen is frozen
        assert found.trustworthy is not frozen
        assert (found[HEAT]["least"] < 0.01) is frozen
        assert ("stand still: the heat of their thermostat is 0.00, not 1" in str(found)) is frozen


def test_streams_are_not_told_to_raise_the_number_of_passes():
    """``partial_fit`` makes one pass over what it is given, whatever ``n_passes`` is."""
    drifting = {"size of the weights": np.array([[1.0, 1.0, 2.0, 2.0]])}
    assert "raise sampler__n_passes" in str(TopicDiagnostics(drifting))
    assert "pass more documents" in str(TopicDiagnostics(drifting, stream=True))
    X, y = draw_documents(200, 11)
    model = MedLDAClassifier(n_topics=20, n_chains=1, sampler__n_passes=1, random_state=0)
    assert not model.fit(X, y).posterior_[0].streamed
    assert model.partial_fit(X, y).posterior_[0].streamed
    streamed = MedLDAClassifier(n_topics=20, n_chains=1, random_state=0)
    for first in range(0, 200, 10):
        streamed.partial_fit(X[first : first + 10], y[first : first + 10], classes=np.unique(y))
    streamed.posterior_[0].coef[-1] = 9.0 * streamed.posterior_[0].coef[-1]
    assert "n_passes" not in str(streamed.diagnostics_)
    assert "pass more documents" in str(streamed.diagnostics_)
    assert str(make_context(streamed, None, None).diagnostics) == str(streamed.diagnostics_)
