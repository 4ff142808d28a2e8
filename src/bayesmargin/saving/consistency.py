"""Whether the parts of a loaded model fit each other, so that nothing compiled reads amiss."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesmargin.errors import SavedModelError

MOST_JOBS = 4096


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise SavedModelError(f"its parts do not fit each other: {what}")


def _require_array(value: Any, shape: Sequence[int | None], kinds: str, what: str) -> np.ndarray:
    """An array of the given shape (None: any length) and kind of type."""
    _require(isinstance(value, np.ndarray) and value.dtype.kind in kinds, what)
    _require(value.dtype.kind != "f" or value.dtype in (np.float32, np.float64), what)
    fits = len(value.shape) == len(shape) and all(
        wanted is None or size == wanted for size, wanted in zip(value.shape, shape, strict=True)
    )
    _require(fits, f"{what} has the shape {value.shape}")
    array: np.ndarray = value
    return array


def _require_known(value: Any, shape: Sequence[int | None], what: str) -> np.ndarray:
    """Likewise of real numbers, none of them NaN."""
    array = _require_array(value, shape, "f", what)
    _require(not np.isnan(array).any(), f"{what} has values that are no numbers")
    return array


def _require_number(value: Any, what: str) -> None:
    _require(isinstance(value, float) and np.isfinite(value), what)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_model(model: Any) -> None:
    """Raise :class:`SavedModelError` when shapes, types or numbers of parts disagree."""
    features = model.n_features_in_
    _require(_is_whole(features) and features > 0, "n_features_in_")
    classes = model.classes_
    _require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes), "classes_")
    if hasattr(model, "feature_names_in_"):
        _require_array(model.feature_names_in_, [features], "OU", "feature_names_in_")
    jobs = getattr(model, "n_jobs", None)
    _require(jobs is None or (_is_whole(jobs) and abs(jobs) <= MOST_JOBS), "n_jobs")
    _CHECKS[type(model).__name__](model, features, len(classes))


def _linear(model: Any, features: int, n_classes: int) -> None:
    from bayesmargin.calibration.maps import BinaryLink, MulticlassLink
    from bayesmargin.diagnostics.convergence import Diagnostics
    from bayesmargin.models.settings import check_linear_settings
    from bayesmargin.posterior import Posterior

    check_linear_settings(model)
    blocks = 1 if n_classes == 2 else n_classes
    _require_array(model.coef_, [blocks, features], "f", "coef_")
    _require_array(model.intercept_, [blocks], "f", "intercept_")
    posterior = model.posterior_
    _require(isinstance(posterior, Posterior), "posterior_")
    per_class = [] if blocks == 1 else [blocks]
    coef = _require_array(posterior["coef"], [None, None, *per_class, features], "f", "coef")
    _require_array(posterior["intercept"], [*coef.shape[:2], *per_class], "f", "intercept")
    kind, slopes = (BinaryLink, 4) if blocks == 1 else (MulticlassLink, 2)
    _require(isinstance(model.link_, kind), "link_")
    _require_array(model.link_.slopes, [slopes], "f", "slopes of the link")
    _require(isinstance(model.link_.margin, float | int), "margin of the link")
    _require_number(model.link_.caution, "caution of the link")
    if model.link_.precision is not None:
        _require_array(model.link_.precision, [slopes + 1] * 2, "f", "precision of the link")
    _require(isinstance(model.diagnostics_, Diagnostics), "diagnostics_")


def _medlda(model: Any, features: int, n_classes: int) -> None:
    from bayesmargin.models.medlda.conditionals import padded
    from bayesmargin.models.medlda.expected import ExpectedTopics
    from bayesmargin.models.medlda.labels import LabelCode
    from bayesmargin.models.medlda.parameters import Resolved, check_parameters
    from bayesmargin.models.medlda.posterior import TopicPosterior
    from bayesmargin.models.medlda.training import Training

    check_parameters(model)
    training = model._training
    _require(isinstance(training, Training) and isinstance(training.code, LabelCode), "_training")
    _require(isinstance(training.resolved, Resolved) and training.n_words == features, "_training")
    if model._link is not None:  # it is learned when it is first needed
        _check_score_link(model._link, training.code)
    _require_array(training.known, [features], "b", "_training")
    _require_array(training.n_labelled, [training.code.n_classifiers], "f", "_training")
    _require_number(training.resolved.alpha, "alpha")
    _require_number(training.resolved.hinge.cost, "hinge")
    _require_number(training.resolved.hinge.margin, "hinge")
    _require(type(training.code.several) is bool, "classes_")
    _require(_is_whole(training.seed) and 0 <= training.seed < 2**62, "seed")
    _require(_is_whole(training.n_chains), "n_chains")
    _require(np.array_equal(training.code.classes, model.classes_), "classes_")
    rows, models = training.code.n_classifiers, len(training.columns)
    _require(models in (1, rows) and all(type(c) is slice for c in training.columns), "columns")
    own = rows if models == 1 else 1
    _require(len(training.learners) == training.n_chains * models > 0, "learners")
    _require(len(model.posterior_) == len(training.learners), "posterior_")
    _require(len(model._first) == models, "posterior_")
    topics, width = model.n_topics, padded(model.n_topics)
    for learner, posterior in zip(training.learners, model.posterior_, strict=True):
        _require(learner.posterior is posterior, "posterior_")
        _require(isinstance(posterior, TopicPosterior) and posterior.n_topics == topics, "topics")
        _require(len(posterior.topics) == len(posterior.coef) > 0, "draws")
        for draw, coef in zip(posterior.topics, posterior.coef, strict=True):
            _require_array(draw, [features, width], "f", "topics")
            _require(draw.dtype == np.float32, "topics")
            _require_array(coef, [own, topics], "f", "coef")
        expected = posterior.expected
        if expected is not None:
            _require(isinstance(expected, ExpectedTopics), "expected topics")
            _require_array(expected.counts, [features, width], "f", "expected topics")
            _require(expected.counts.dtype == np.float32, "expected topics")
            _require(expected.n_topics == topics, "expected topics")
            _require_number(expected.scale, "expected topics")
            _require_number(expected.beta, "expected topics")
        _check_learner(learner, features, width, own, topics)
    if training.held_out is not None:
        documents, signs = training.held_out
        _check_documents(documents, signs, features, rows)


def _check_score_link(link: Any, code: Any) -> None:
    from bayesmargin.models.medlda.chances import LabelChances
    from bayesmargin.models.medlda.link import ScoreLink

    _require(isinstance(link, ScoreLink), "_link")
    _require_number(link.slope, "_link")
    _require_number(link.threshold, "_link")
    if link.thresholds is not None:
        _require_array(link.thresholds, [len(code.classes)], "f", "_link")
    if link.brevity is not None:
        _check_brevity(link.brevity, code.n_classifiers)
    if link.chances is not None:
        _require(isinstance(link.chances, LabelChances) and code.several, "_link")
        for numbers in (link.chances.slopes, link.chances.offsets):
            _require_array(numbers, [code.n_classifiers], "f", "_link")
        _check_brevity(link.chances.brevity, code.n_classifiers)


def _check_brevity(brevity: Any, n_classifiers: int) -> None:
    from bayesmargin.models.medlda.brevity import Brevity

    _require(isinstance(brevity, Brevity), "_link")
    for scores in (brevity.wordless, brevity.shares):
        _require_array(scores, [n_classifiers], "f", "_link")
    _require_number(brevity.share_words, "_link")
    _require_number(brevity.doubt_words, "_link")


def _check_learner(learner: Any, features: int, width: int, own: int, topics: int) -> None:
    chain = getattr(learner, "chain", None)
    if chain is not None:
        from bayesmargin.foundation.threads import N_SHARES

        settings = chain.settings
        _require_array(chain.topics, [features, width], "f", "topics of a chain")
        _require(chain.topics.dtype == np.float32, "topics of a chain")
        _require_array(chain.deviation, [width], "f", "sums of a chain")
        _require_array(chain.moved, [features, 2], "f", "times of a chain")
        _require_number(chain.clock, "times of a chain")
        _require_array(chain.streams, [N_SHARES, 1], "u", "streams of a chain")
        _require_array(chain.lanes, [N_SHARES, width], "u", "streams of a chain")
        _require(chain.streams.dtype == np.uint64, "streams of a chain")
        _require(chain.lanes.dtype == np.uint32, "streams of a chain")
        _require_array(chain.coef, [own, topics], "f", "weights of a chain")
        _require(settings.n_topics == topics and settings.n_words == features, "settings")
        _require(settings.n_classes == own, "settings")
        kinds = {type(rng) for rng in chain.generators}
        _require(kinds == {np.random.Generator} and len(chain.generators) == N_SHARES, "generators")
    state = getattr(learner, "state", None)
    if state is not None:
        for name in ("delta", "_topics"):
            _require_array(getattr(state, name), [features, width], "f", name)
            _require(getattr(state, name).dtype == np.float32, name)
        for name in ("linear", "mean"):
            _require_array(getattr(state, name), [own, topics], "f", name)
        for name in ("precision", "covariance"):
            _require_array(getattr(state, name), [own, topics, topics], "f", name)
        from bayesmargin.models.medlda.quadratic import make_quadratic_workspace

        for mine, fresh in zip(state.work, make_quadratic_workspace(width), strict=True):
            _require(mine.shape == fresh.shape and mine.dtype == fresh.dtype, "work")
        _require(isinstance(state.rng, np.random.Generator), "generators")


def _check_documents(documents: Any, signs: Any, features: int, rows: int) -> None:
    words = _require_array(documents.words, [None], "i", "held-out documents")
    offsets = _require_array(documents.offsets, [None], "i", "held-out documents")
    _require(len(offsets) and offsets[0] == 0 and offsets[-1] == len(words), "held-out documents")
    _require(np.all(np.diff(offsets) >= 0), "held-out documents")
    inside = words.size == 0 or (words.min() >= 0 and words.max() < features)
    _require(inside, "held-out documents")
    _require_array(signs, [len(offsets) - 1, rows], "i", "held-out documents")


def _infinite(model: Any, features: int, n_classes: int) -> None:
    from bayesmargin.models.infinite_svc.fitting import Problem
    from bayesmargin.models.infinite_svc.link import Link
    from bayesmargin.models.infinite_svc.settings import check_settings
    from bayesmargin.models.infinite_svc.state import Base, Hinge, feature_count

    check_settings(model)
    problem = model._problem
    _require(isinstance(problem, Problem) and isinstance(problem.base, Base), "_problem")
    _require(isinstance(problem.hinge, Hinge), "_problem")
    for value in (*problem.hinge, problem.base.strength, problem.base.degrees):
        _require_number(value, "base measure or hinge")
    _require_number(problem.base.weight_scale, "base measure")
    _require_array(problem.base.student, [None], "f", "base measure")
    _require_array(problem.scaling.centre, [features], "f", "scaling")
    _require_array(problem.scaling.width, [features], "f", "scaling")
    chosen = problem.with_covariates
    if isinstance(chosen, np.ndarray):
        _require_array(chosen, [None], "i", "columns of the Gaussians")
        _require(bool(np.all((chosen >= 0) & (chosen < features))), "columns of the Gaussians")
        size = len(chosen)
    else:
        size = features if chosen else 0
    _require_array(problem.base.location, [size], "f", "base measure")
    _require_array(problem.base.scatter, [size, size], "f", "base measure")
    columns = features + int(problem.with_intercept)
    outputs = 1 if n_classes == 2 else n_classes
    _require(len(model._draws) > 0, "draws")
    for draw in model._draws:
        number = len(draw.weights)
        _require_array(draw.weights, [number, outputs, columns], "f", "weights of a draw")
        _require_array(draw.population, [number + 1], "f", "population of a draw")
        _require_array(draw.height, [number + 1], "f", "height of a draw")
        length = feature_count(size, problem.base.diagonal)
        _require_array(draw.form, [number + 1, length], "f", "form of a draw")
    link = getattr(model, "link_", None)  # models of before there were links have none
    if link is not None:
        _require(isinstance(link, Link), "link_")
        _require_number(link.slope, "slope of the link")
        _require_number(link.floor, "floor of the link")
        _require(link.slope > 0.0 and 0.0 <= link.floor <= 1.0, "link_")
    rows = len(model._labels[0]) if model._labels else 0
    for labels in model._labels:
        _require_array(labels, [rows], "i", "labels of a draw")
    shape = model.n_components_.shape
    _require(len(shape) == 2, "n_components_")
    _require_array(model.concentration_, shape, "f", "concentration_")


def _dpmnl(model: Any, features: int, n_classes: int) -> None:
    from bayesmargin.models.dpmnl.settings import check_settings

    check_settings(model)
    _require_array(model._scaling.centre, [features], "f", "scaling")
    _require_array(model._scaling.width, [features], "f", "scaling")
    _require(len(model._draws) > 0, "draws")
    for draw in model._draws:
        _check_logit_draw(draw, features, n_classes)
    _require_array(model.n_components_, [None], "i", "n_components_")


def _check_logit_draw(draw: Any, features: int, n_classes: int) -> None:
    from bayesmargin.models.dpmnl.prediction import Draw
    from bayesmargin.models.dpmnl.state import Experts, Hyper

    _require(isinstance(draw, Draw) and isinstance(draw.experts, Experts), "experts of a draw")
    weights, experts, base = draw
    number = len(_require_known(weights, [None], "weights of a draw"))
    _require(number > 0, "weights of a draw")
    for name, length in (("population", number), ("order", number), ("size", 1)):
        _require_array(getattr(experts, name), [length], "i", name)
    _require_known(experts.log_scale, [number, 2], "scales of a draw")
    _require_known(experts.mean, [number, features], "means of a draw")
    _require_known(experts.log_variance, [number, features], "variances of a draw")
    shape = [number, n_classes, features + 1]
    _require_known(experts.coefficients, shape, "coefficients of a draw")
    if base is not None:  # models of before it was kept have none
        _require(isinstance(base, Hyper), "base measure of a draw")
        for part in base[:4]:
            _require_known(part, [features], "base measure of a draw")
        _require_known(base.log_concentration, [1], "base measure of a draw")
        if base.narrowest is not None:
            _require_known(base.narrowest, [features], "base measure of a draw")


_CHECKS: dict[str, Callable[[Any, int, int], None]] = {
    "BayesianLinearSVC": _linear,
    "MedLDAClassifier": _medlda,
    "InfiniteSVC": _infinite,
    "DPMNLClassifier": _dpmnl,
}
