"""What saving knows of topic models: their classes, their draws, what a loaded one must hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.models.saved.requiring import (
    is_whole,
    require,
    require_array,
    require_number,
)
from bayesmargin.models.saved.variables import Layout, labelled
from bayesmargin.saving.classes import Stored, stored
from bayesmargin.saving.codec import Place
from bayesmargin.saving.netcdf import Variable

_HOME, _PREFIX = "bayesmargin.models.medlda", "medlda."
_MAPS = "bayesmargin.calibration"
_DROPPED = {"read": None, "taken": 0}  # of a learner

CLASSES = {
    **stored(f"{_MAPS}.short_documents", "Brevity", prefix=_PREFIX),
    **stored(f"{_MAPS}.label_chances", "LabelChances", prefix=_PREFIX),
    **stored(f"{_HOME}.documents", "Documents", prefix=_PREFIX),
    **stored(f"{_HOME}.expected", "ExpectedTopics", prefix=_PREFIX),
    **stored(f"{_HOME}.hinges", "LabelSetHinge", "MultiTaskHinge", prefix=_PREFIX),
    **stored(f"{_HOME}.labels", "LabelCode", prefix=_PREFIX),
    **stored(f"{_MAPS}.slopes", "ScoreLink", prefix=_PREFIX),
    **stored(f"{_HOME}.parameters", "Resolved", prefix=_PREFIX),
    **stored(f"{_HOME}.posterior", "Draw", "TopicPosterior", prefix=_PREFIX),
    **stored(f"{_HOME}.quadratic", "QuadraticWorkspace", prefix=_PREFIX),
    **stored(f"{_HOME}.settings", "Settings", prefix=_PREFIX),
    **stored(f"{_HOME}.weights", "LangevinMover", "ThermostatMover", prefix=_PREFIX),
    **stored(
        f"{_HOME}.samplers",
        "SSGRLD",
        "CollapsedGibbs",
        "PassiveAggressive",
        prefix=f"{_PREFIX}samplers.",
    ),
    "medlda.Chain": Stored(
        f"{_HOME}.ssgrld",
        "Chain",
        (
            *("settings", "mover", "generators", "streams", "lanes", "time", "clock"),
            *("topics", "moved", "deviation", "coef"),
        ),
        {"_aids": None, "minibatch": None, "sampled": None},
    ),
    "medlda.PassiveAggressive": Stored(
        f"{_HOME}.passive_aggressive",
        "PassiveAggressive",
        (
            *("hinge", "alpha", "beta", "rng", "n_rounds", "n_sweeps", "delta", "precision"),
            *("linear", "mean", "covariance", "work", "_topics"),
        ),
        {"minibatch": None},
    ),
    "medlda.OnlineLearner": Stored(
        f"{_HOME}.learners",
        "OnlineLearner",
        ("chain", "posterior", "_n_draws"),
        _DROPPED,
        former={"_n_threads": None},
    ),
    # Collapsed Gibbs sampling has no partial_fit: its chain, which holds all words, is not kept.
    "medlda.BatchLearner": Stored(
        f"{_HOME}.learners",
        "BatchLearner",
        ("posterior", "_n_draws"),
        {"chain": None, **_DROPPED},
        former={"_time": None},
    ),
    "medlda.StreamLearner": Stored(
        f"{_HOME}.learners",
        "StreamLearner",
        ("chain", "posterior"),
        {"_n_draws": 1, **_DROPPED},
        former={"state": "chain"},
    ),
    "medlda.Training": Stored(
        f"{_HOME}.training",
        "Training",
        (
            *("resolved", "code", "n_words", "n_threads", "n_seen", "columns", "n_chains"),
            *("order", "seed", "learners", "held_out", "known", "n_labelled"),
        ),
        {"_generators": [], "_crew": None},
    ),
}


def layout(model: Any) -> Layout:
    """Unnormalised topics and weights; with one-vs-rest an axis of models, one a class."""
    training = model._training
    posteriors, models = model.posterior_, len(training.columns)
    n_draws = len(posteriors[0].topics)
    lead = (training.n_chains, models, n_draws)
    if any(len(posterior.topics) != n_draws for posterior in posteriors):
        return [], {}
    axes: dict[str, Sequence[Any]] = {"chain": range(lead[0]), "draw": range(n_draws)}
    coef = posteriors[0].coef[0]
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    axes |= {"word": list(names), "topic": range(coef.shape[1])}
    columns: tuple[str, ...] = ("chain", "model", "draw")
    shape: tuple[int, ...] = lead
    if models == 1:
        columns, shape = ("chain", "draw"), (lead[0], n_draws)
    elif len(model.classes_) == models:
        axes["model"] = model.classes_.tolist()
    if models == 1 and len(model.classes_) == coef.shape[0]:
        axes["class"] = model.classes_.tolist()
    hint = {"long_name": "topics times a constant each: divide by the sum over words"}
    topics = [draw for posterior in posteriors for draw in posterior.topics]
    weights = [draw for posterior in posteriors for draw in posterior.coef]
    size = (model.n_features_in_, coef.shape[1])
    variables = [
        Variable("topics", (*columns, "word", "topic"), (*shape, *size), topics, len(shape),
                 attrs=hint),
        Variable("coef", (*columns, "class", "topic"), (*shape, *coef.shape), weights, len(shape)),
    ]  # fmt: skip
    places: dict[int, Place] = {}
    for name, arrays in (("topics", topics), ("coef", weights)):
        for number, array in enumerate(arrays):
            at = [int(i) for i in np.unravel_index(number, lead)]
            if models == 1:
                del at[1]
            places[id(array)] = Place(name, tuple(at), array.shape)
    return labelled(variables, axes), places


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.models.medlda.conditionals import padded
    from bayesmargin.models.medlda.expected import ExpectedTopics
    from bayesmargin.models.medlda.labels import LabelCode
    from bayesmargin.models.medlda.parameters import Resolved, check_parameters
    from bayesmargin.models.medlda.posterior import TopicPosterior
    from bayesmargin.models.medlda.training import Training

    check_parameters(model)
    training = model._training
    require(isinstance(training, Training) and isinstance(training.code, LabelCode), "_training")
    require(isinstance(training.resolved, Resolved) and training.n_words == features, "_training")
    if model._link is not None:  # it is learned when it is first needed
        _check_score_link(model._link, training.code)
    require_array(training.known, [features], "b", "_training")
    require_array(training.n_labelled, [training.code.n_classifiers], "f", "_training")
    require_number(training.resolved.alpha, "alpha")
    require_number(training.resolved.hinge.cost, "hinge")
    require_number(training.resolved.hinge.margin, "hinge")
    require(type(training.code.several) is bool, "classes_")
    require(is_whole(training.seed) and 0 <= training.seed < 2**62, "seed")
    require(is_whole(training.n_chains), "n_chains")
    require(np.array_equal(training.code.classes, model.classes_), "classes_")
    rows, models = training.code.n_classifiers, len(training.columns)
    require(models in (1, rows) and all(type(c) is slice for c in training.columns), "columns")
    own = rows if models == 1 else 1
    require(len(training.learners) == training.n_chains * models > 0, "learners")
    require(len(model.posterior_) == len(training.learners), "posterior_")
    require(len(model._first) == models, "posterior_")
    topics, width = model.n_topics, padded(model.n_topics)
    for learner, posterior in zip(training.learners, model.posterior_, strict=True):
        require(learner.posterior is posterior, "posterior_")
        require(isinstance(posterior, TopicPosterior) and posterior.n_topics == topics, "topics")
        require(len(posterior.topics) == len(posterior.coef) > 0, "draws")
        for draw, coef in zip(posterior.topics, posterior.coef, strict=True):
            require_array(draw, [features, width], "f", "topics")
            require(draw.dtype == np.float32, "topics")
            require_array(coef, [own, topics], "f", "coef")
        expected = posterior.expected
        if expected is not None:
            require(isinstance(expected, ExpectedTopics), "expected topics")
            require_array(expected.counts, [features, width], "f", "expected topics")
            require(expected.counts.dtype == np.float32, "expected topics")
            require(expected.n_topics == topics, "expected topics")
            require_number(expected.scale, "expected topics")
            require_number(expected.beta, "expected topics")
        _check_learner(learner, features, width, own, topics)
    if training.held_out is not None:
        documents, signs = training.held_out
        _check_documents(documents, signs, features, rows)


def _check_score_link(link: Any, code: Any) -> None:
    from bayesmargin.calibration.label_chances import LabelChances
    from bayesmargin.calibration.slopes import ScoreLink

    require(isinstance(link, ScoreLink), "_link")
    require_number(link.slope, "_link")
    require_number(link.threshold, "_link")
    if link.thresholds is not None:
        require_array(link.thresholds, [len(code.classes)], "f", "_link")
    if link.brevity is not None:
        _check_brevity(link.brevity, code.n_classifiers)
    if link.chances is not None:
        require(isinstance(link.chances, LabelChances) and code.several, "_link")
        for numbers in (link.chances.slopes, link.chances.offsets):
            require_array(numbers, [code.n_classifiers], "f", "_link")
        _check_brevity(link.chances.brevity, code.n_classifiers)


def _check_brevity(brevity: Any, n_classifiers: int) -> None:
    from bayesmargin.calibration.short_documents import Brevity

    require(isinstance(brevity, Brevity), "_link")
    for scores in (brevity.wordless, brevity.shares):
        require_array(scores, [n_classifiers], "f", "_link")
    require_number(brevity.share_words, "_link")
    require_number(brevity.doubt_words, "_link")


def _check_learner(learner: Any, features: int, width: int, own: int, topics: int) -> None:
    from bayesmargin.models.medlda.learners import BatchLearner, OnlineLearner, StreamLearner

    chain = learner.chain
    if type(learner) is OnlineLearner:
        from bayesmargin.foundation.threads import N_SHARES

        settings = chain.settings
        require_array(chain.topics, [features, width], "f", "topics of a chain")
        require(chain.topics.dtype == np.float32, "topics of a chain")
        require_array(chain.deviation, [width], "f", "sums of a chain")
        require_array(chain.moved, [features, 2], "f", "times of a chain")
        require_number(chain.clock, "times of a chain")
        require_array(chain.streams, [N_SHARES, 1], "u", "streams of a chain")
        require_array(chain.lanes, [N_SHARES, width], "u", "streams of a chain")
        require(chain.streams.dtype == np.uint64, "streams of a chain")
        require(chain.lanes.dtype == np.uint32, "streams of a chain")
        require_array(chain.coef, [own, topics], "f", "weights of a chain")
        require(settings.n_topics == topics and settings.n_words == features, "settings")
        require(settings.n_classes == own, "settings")
        kinds = {type(rng) for rng in chain.generators}
        require(kinds == {np.random.Generator} and len(chain.generators) == N_SHARES, "generators")
    elif type(learner) is StreamLearner:
        for name in ("delta", "_topics"):
            require_array(getattr(chain, name), [features, width], "f", name)
            require(getattr(chain, name).dtype == np.float32, name)
        for name in ("linear", "mean"):
            require_array(getattr(chain, name), [own, topics], "f", name)
        for name in ("precision", "covariance"):
            require_array(getattr(chain, name), [own, topics, topics], "f", name)
        from bayesmargin.models.medlda.quadratic import make_quadratic_workspace

        for mine, fresh in zip(chain.work, make_quadratic_workspace(width), strict=True):
            require(mine.shape == fresh.shape and mine.dtype == fresh.dtype, "work")
        require(isinstance(chain.rng, np.random.Generator), "generators")
    else:
        require(type(learner) is BatchLearner, "learners")


def _check_documents(documents: Any, signs: Any, features: int, rows: int) -> None:
    words = require_array(documents.words, [None], "i", "held-out documents")
    offsets = require_array(documents.offsets, [None], "i", "held-out documents")
    require(len(offsets) and offsets[0] == 0 and offsets[-1] == len(words), "held-out documents")
    require(np.all(np.diff(offsets) >= 0), "held-out documents")
    inside = words.size == 0 or (words.min() >= 0 and words.max() < features)
    require(inside, "held-out documents")
    require_array(signs, [len(offsets) - 1, rows], "i", "held-out documents")
